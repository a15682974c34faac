/** What an agent wants to know before it goes on; `from` names the roles it came through, outermost first. */
export type Question = {
  about: 'permission' | 'choice' | 'login' | 'trust'
  text: string
  from: string[]
  multiple?: boolean
  options: { id: string; label: string; grants?: string }[]
}

/** The ids picked. Nobody there, or withdrawn: undefined, which means no. */
export type Ask = (question: Question, withdrawn: AbortSignal) => Promise<string[] | undefined>

export const nobody: Ask = async () => undefined
