import type { Terminal } from '../screen/terminal.ts'
import type { Event } from './entry.ts'

/** A turn at work in some process. `by` is who speaks in it, once somebody does; the prompt may be cut. */
export type TurnAtWork = { turn: string; session: string; prompt: string; since: number; project?: string; by?: string }

/**
 * A process that runs turns, as another one meets it. Facts are read from the log by anyone; what is only live,
 * and every wish of a person, goes through here.
 */
export interface Peer {
  turns(): Promise<TurnAtWork[]>
  /** The events of a turn from now on, with what is on its screen already in front; ends with the turn, or when the process is gone. */
  follow(turn: string, signal: AbortSignal): AsyncIterable<Event>
  answer(turn: string, ask: string, picks?: string[]): Promise<boolean>
  /** Whether there is such a turn to give it to. */
  steer(turn: string, text: string): Promise<boolean>
  cancel(turn: string): Promise<boolean>
  /** One of its own terminals, which nobody else could show; undefined when it has no such one. */
  terminal(id: string): Promise<Terminal | undefined>
  close(): Promise<void>
}
