import type { Terminal } from '../screen/terminal.ts'
import type { Event } from '../talk/entry.ts'

/** A turn that some process runs. `by` is the working agent, once it is known; the prompt may be cut. */
export type TurnAtWork = { turn: string; session: string; prompt: string; since: number; project?: string; by?: string }

/**
 * A process that runs turns, as seen from another process. Facts can be read from the log; live events, and a person's input to a turn in
 * another process, go through its peer.
 */
export interface Peer {
  turns(): Promise<TurnAtWork[]>
  /**
   * Yields what the turn has shown so far, then its events until the turn ends or its process is gone. A turn without a person
   * at its own terminal waits for the answer to a question while somebody follows it; a follower `onlyReading` cannot answer, and
   * nothing waits for it.
   */
  follow(turn: string, signal: AbortSignal, how?: 'onlyReading'): AsyncIterable<Event>
  answer(turn: string, ask: string, picks?: string[]): Promise<boolean>
  /** Returns false if the process runs no such turn. */
  steer(turn: string, text: string): Promise<boolean>
  cancel(turn: string): Promise<boolean>
  /** Returns one of the process's own terminals, which only that process can show. */
  terminal(id: string): Promise<Terminal | undefined>
  close(): Promise<void>
}
