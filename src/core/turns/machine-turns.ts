import type { PlanItem } from '../talk/entry.ts'
import type { Question } from '../talk/question.ts'
import type { FarPerson } from '../screen/machine-terminals.ts'
import type { TurnAtWork } from './peer.ts'

/** A question of a turn that nobody has answered yet. */
export type OpenQuestion = { ask: string; question: Question; at: number }

/** A turn that runs on a machine, with its open questions and its newest words. `onlyReading`: its machine takes no answers from elsewhere. */
export type TurnRow = TurnAtWork & { machine: string; asks: OpenQuestion[]; words?: string; onlyReading?: true }

export type TurnChange = { type: 'turn'; row: TurnRow } | { type: 'turn-over'; turn: string }

/** A text that grows: the reader keeps its first `from` characters, and `text` follows them. */
export type Growth = { from: number; text: string }

/**
 * Words of an agent that are not kept yet. `part` is their number in the turn; `after` is the newest entry that had been kept when the
 * agent began to say them. A reader shows them after that entry, until a later entry of the log contains the same words.
 */
export type LiveSpeech = Growth & { part: number; type: 'text' | 'thought'; by?: string; after?: string }

/**
 * Everything that a running turn shows right now and no log contains yet. `speech` and `progress` are whole lists whose texts grow;
 * `inside` are the agents inside the turn, each with its newest words.
 */
export type LiveTurn = {
  type: 'live'
  turn: string
  by?: string
  speech: LiveSpeech[]
  progress: (Growth & { call: string })[]
  plan?: PlanItem[]
  waiting?: string
  phase?: string
  inside: { role: string; by?: string; words: string }[]
}

/** `live-over`: no more words of the turn come, because it is over or its process is gone. */
export type LiveChange = LiveTurn | { type: 'live-over'; turn: string }

/** The turns of a machine for a person who is not at its terminals. */
export interface MachineTurns {
  /** Yields every turn that runs, and then each change, until the signal aborts. */
  follow(signal: AbortSignal): AsyncIterable<TurnChange>
  /** The turns that are known now: all that run, while somebody follows them. */
  rows(): TurnRow[]
  /** Yields what the running turns of one session show, for a reader who cannot answer: no turn waits for it. */
  watch(session: string, signal: AbortSignal): AsyncIterable<LiveChange>
  /** Each of these returns false when no such turn runs any more, or the turn could not take it. */
  answer(turn: string, ask: string, picks: string[] | undefined, by: FarPerson): Promise<boolean>
  steer(turn: string, text: string, by: FarPerson): Promise<boolean>
  cancel(turn: string, by: FarPerson): Promise<boolean>
}
