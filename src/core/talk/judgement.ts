import type { Entry, EntryOf, Judgement } from './entry.ts'
import { oneLine } from '../../base/text/table.ts'
import { typedPrompt } from './file-references.ts'
import { endedTurns } from './view.ts'

/** A turn that an agent answered. */
export type AnsweredTurn = { turn: string; agent: string; prompt: string }

/** Finds the last turn of a session that an agent answered. Skips commands of the person and turns without an agent. */
export function lastAnswered(entries: readonly Entry[]): AnsweredTurn | undefined {
  for (const { id: turn, entries: own } of endedTurns(entries).reverse()) {
    // The verdict of a turn that was thought through is signed by the acting agent.
    const signed = own.findLast(({ type, by }) => (type === 'reply' || type === 'verdict') && isAgent(by))
    const asked = own.find((entry): entry is EntryOf<'prompt'> => entry.type === 'prompt')
    if (signed && asked) return { turn, agent: signed.by, prompt: asked.text }
  }
  return undefined
}

/** Whether an entry is signed by an agent. */
export const isAgent = (by: string) => by !== 'termaite' && by !== 'user'

/** The person's judgement of a turn, in the words shown when it is stored. */
export function thumbWords(thumb: Pick<Judgement, 'good' | 'why'>, { agent, prompt }: AnsweredTurn): string {
  return `Noted: ${agent}’s answer to “${oneLine(typedPrompt(prompt), 60)}” was ${quality(thumb)}`
}

/** The person's judgement of a turn, in the words shown later under that turn. */
export const thumbNote = (thumb: Pick<Judgement, 'good' | 'why'>): string => `You called this answer ${quality(thumb)}`

const quality = ({ good, why }: Pick<Judgement, 'good' | 'why'>) =>
  `${good ? 'good' : 'bad'}${why === undefined ? '.' : `: ${oneLine(why, 200)}`}`
