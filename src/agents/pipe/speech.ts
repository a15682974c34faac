import type { Dialect, Ended, SentPicture } from '../../core/profile/profile.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Emit } from '../seat.ts'
import { LongText } from '../../core/talk/body.ts'

/** The prompt of a turn, and its pictures for a command that accepts pictures. */
export type PictureText = { text: string; pictures: readonly SentPicture[] }

/** Turns a command's output into events: as plain text, or parsed by its dialect. */
export interface Speech {
  /** Whether a success that the command itself reports outweighs the exit code and the last output. */
  typed: boolean
  /** The text for stdin, and whether stdin stays open for answers. */
  open(prompt: PictureText): { text: string; stays: boolean }
  /** Handles the next piece of output, without control sequences. */
  hear(text: string): Promise<void>
  /** Asks the command to stop by itself; false if it has no message for that. */
  stop(): boolean
  /** Whether the command has sent its last message, though its process may still be running. */
  over(): boolean
  /** Whether a tool is running, which explains a silence. */
  busy(): boolean
  /**
   * The dialect that can continue in the same process; undefined if none can, if a yes of this turn would also apply to the next one, or
   * if work of this turn continues.
   */
  lasting(): Dialect | undefined
  /** The outcome that the command itself reported; undefined if it reported none. */
  finish(ended: Ended): Promise<Outcome | undefined>
  /** Removes files that were written for an answer that failed. */
  drop(): Promise<void>
}

/** Speech without a dialect: all output is the answer. */
export function plainSpeech(blobs: Blobs, emit: Emit): Speech {
  const answer = new LongText(blobs)
  return {
    typed: false,
    open: ({ text }) => ({ text, stays: false }),
    async hear(text) {
      if (text === '') return
      await answer.add(text)
      await emit({ type: 'text', delta: text })
    },
    stop: () => false,
    over: () => false,
    busy: () => false,
    lasting: () => undefined,
    finish: async () => ({ ok: true, ...(await answer.finish()) }),
    drop: () => answer.drop(),
  }
}
