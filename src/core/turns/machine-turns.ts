import type { PlanItem } from '../talk/entry.ts'
import type { Question } from '../talk/question.ts'
import type { FarPerson } from '../screen/machine-terminals.ts'
import type { TurnAtWork } from './peer.ts'

/** An open question of a turn. */
export type OpenQuestion = { ask: string; question: Question; at: number }

/** A turn that runs on a machine, with its open questions and its newest words. `onlyReading`: its machine takes no answers from elsewhere. */
export type TurnRow = TurnAtWork & { machine: string; asks: OpenQuestion[]; words?: string; onlyReading?: true }

export type TurnChange = { type: 'turn'; row: TurnRow } | { type: 'turn-over'; turn: string }

/** A text that grows: the reader keeps its first `from` characters, and `text` follows them. */
export type Growth = { from: number; text: string }

/**
 * Text of an agent that is not stored yet. `part` is its number in the turn; `after` is the newest entry that had been stored when the
 * agent began to say it. A reader shows it after that entry, until a later entry of the log contains the same text.
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

/** `live-over`: there will be no more text from the turn, because it is over or its process is gone. */
export type LiveChange = LiveTurn | { type: 'live-over'; turn: string }

/** The turns of a machine for a person who is not at its terminals. */
export interface MachineTurns {
  /** Yields every turn that runs, and then each change, until the signal aborts. */
  follow(signal: AbortSignal): AsyncIterable<TurnChange>
  /** The turns that are known now: all running ones, while somebody follows them. */
  rows(): TurnRow[]
  /** Yields the events of one session's running turns, for a reader who cannot answer: no turn waits for this reader. */
  watch(session: string, signal: AbortSignal): AsyncIterable<LiveChange>
  /** Each of these returns false if no such turn runs any more, or if the turn could not accept the input. */
  answer(turn: string, ask: string, picks: string[] | undefined, by: FarPerson): Promise<boolean>
  steer(turn: string, text: string, by: FarPerson): Promise<boolean>
  cancel(turn: string, by: FarPerson): Promise<boolean>
}
