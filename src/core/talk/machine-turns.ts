import type { Question } from './question.ts'
import type { TurnAtWork } from './peer.ts'

/** A question of a turn that nobody has answered yet. */
export type OpenQuestion = { ask: string; question: Question; at: number }

/** A turn that runs on a machine, with its open questions and its newest words. */
export type TurnRow = TurnAtWork & { machine: string; asks: OpenQuestion[]; words?: string }

export type TurnChange = { type: 'turn'; row: TurnRow } | { type: 'turn-over'; turn: string }

/** The turns of a machine for a person who is not at its terminals. */
export interface MachineTurns {
  /** Yields every turn that runs, and then each change, until the signal aborts. */
  follow(signal: AbortSignal): AsyncIterable<TurnChange>
  /** Each of these returns false when no such turn runs any more, or the turn could not take it. */
  answer(turn: string, ask: string, picks?: string[]): Promise<boolean>
  steer(turn: string, text: string): Promise<boolean>
  cancel(turn: string): Promise<boolean>
}
