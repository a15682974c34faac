import type { Ended } from '../../core/work/profile.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'

/** How a command's output becomes events: as plain text, or by its dialect. */
export interface Speech {
  /** Whether its own account of a good end outweighs what the exit and the last words say. */
  typed: boolean
  /** What goes to stdin, and whether stdin stays open for answers. */
  open(prompt: string): { text: string; stays: boolean }
  /** The next piece of its output, without control sequences. */
  hear(text: string): Promise<void>
  /** Tells it to stop by itself; false when it knows no such word. */
  stop(): boolean
  /** Whether its last word is said, though the process is still there. */
  over(): boolean
  /** Whether something is under way that explains a silence. */
  busy(): boolean
  /** The outcome by its own account; undefined when it gave none. */
  finish(ended: Ended): Promise<Outcome | undefined>
  /** Lets go of what it holds. */
  drop(): Promise<void>
}

export type Emit = (event: Event) => Promise<void>
