/** What is shown beside a question, so that a yes is given to something that was seen. */
export type Shown =
  | { type: 'command'; command: string; cwd?: string }
  | { type: 'diff'; path: string; before?: string; after: string }
  | { type: 'text'; text: string }

/** What is wanted to be known before somebody goes on; `from` names the roles it came through, outermost first. */
export type Question = {
  about: 'permission' | 'choice' | 'login' | 'trust' | 'quota' | 'silence' | 'denied' | 'sharing'
  text: string
  from: string[]
  /** Who asks, or the agent it is about: whose quota is waited for, who is silent, who was denied. */
  agent?: string
  multiple?: boolean
  /** Whether words of one's own are an answer: a pick that is no option's id is such words. */
  free?: boolean
  /** Whether those words are shown to nobody, also not while they are typed. */
  secret?: boolean
  shows?: Shown[]
  /** `grants`: what picking it allows from then on, in words. */
  options: { id: string; label: string; grants?: string }[]
  /** Picked by itself when nobody has answered at that time. */
  otherwise?: { pick: string; at: number }
}

/** The ids picked. Nobody there, or withdrawn: undefined, which means no; a turn's never rejects. `ask` is its id on the log, once it is kept. */
export type Ask = (question: Question, withdrawn: AbortSignal, ask?: string) => Promise<string[] | undefined>

export const nobody: Ask = async () => undefined

/** What a typed line picks: options by their numbers, words of one's own where they count, and nothing with an empty line. */
export function picksTyped({ options, multiple, free }: Question, line: string): string[] | undefined | 'unclear' {
  const typed = line.trim()
  if (typed === '') return undefined
  const picks = typed.split(/[\s,]+/).map((part) => options[Number(part) - 1]?.id)
  const known = picks.every((pick) => pick !== undefined) && (picks.length === 1 || multiple === true)
  if (known) return [...new Set(picks as string[])]
  return free ? [typed] : 'unclear'
}

export function unclearWords({ options, multiple }: Question): string {
  return `${multiple ? 'Numbers' : 'A number'} from 1 to ${options.length}, or Enter for none.`
}
