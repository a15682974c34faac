import type { Ended } from '../../core/work/profile.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Blobs, BlobWriter, Ref } from '../../core/talk/store.ts'
import type { Emit } from '../seat.ts'
import { cutEnds, joinCut, longestBody } from '../../core/talk/body.ts'

/** Turns a command's output into events: as plain text, or by its dialect. */
export interface Speech {
  /** Whether its own account of a good end outweighs the exit code and the last words. */
  typed: boolean
  /** The text for stdin, and whether stdin stays open for answers. */
  open(prompt: string): { text: string; stays: boolean }
  /** Takes the next piece of output, without control sequences. */
  hear(text: string): Promise<void>
  /** Tells the command to stop by itself; false when it knows no word for that. */
  stop(): boolean
  /** Whether the command has said its last word, though its process may still be there. */
  over(): boolean
  /** Whether a tool is running, which explains a silence. */
  busy(): boolean
  /** The outcome by the command's own account; undefined when it gave none. */
  finish(ended: Ended): Promise<Outcome | undefined>
  /** Removes what was written for an answer that failed. */
  drop(): Promise<void>
}

/** Speech without a dialect: all output is the answer. */
export function plainSpeech(blobs: Blobs, emit: Emit): Speech {
  const answer = new PlainAnswer(blobs)
  return {
    typed: false,
    open: (prompt) => ({ text: prompt, stays: false }),
    async hear(text) {
      if (text === '') return
      await answer.add(text)
      await emit({ type: 'text', delta: text })
    },
    stop: () => false,
    over: () => false,
    busy: () => false,
    finish: async () => ({ ok: true, ...(await answer.finish()) }),
    drop: () => answer.drop(),
  }
}

/** Gathers a plain answer: in memory while it is short, as its two ends and a blob once it is long. */
class PlainAnswer {
  #blobs: Blobs
  #writer: BlobWriter | undefined
  #encoder = new TextEncoder()
  #text = ''
  #tail = ''
  #chars = 0

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  get chars() {
    return this.#chars
  }

  async add(text: string): Promise<void> {
    const more = this.#chars === 0 ? text.trimStart() : text
    if (more === '') return
    this.#chars += more.length
    if (!this.#writer) {
      this.#text += more
      if (this.#text.length <= longestBody) return
      this.#writer = this.#blobs.writer('text/plain')
      await this.#writer.write(this.#encoder.encode(this.#text))
      this.#tail = this.#text.slice(-cutEnds.tailChars)
      this.#text = this.#text.slice(0, cutEnds.headChars)
      return
    }
    await this.#writer.write(this.#encoder.encode(more))
    this.#tail = (this.#tail + more).slice(-cutEnds.tailChars)
  }

  /** The answer; `whole` is the blob of one that was cut. */
  async finish(): Promise<{ text: string; whole?: Ref }> {
    if (!this.#writer) return { text: this.#text.trimEnd() }
    const whole = await this.#writer.done()
    const missing = this.#chars - cutEnds.headChars - this.#tail.length
    return { text: joinCut(this.#text, this.#tail.trimEnd(), missing, this.#blobs.place(whole)), whole }
  }

  async drop(): Promise<void> {
    await this.#writer?.drop()
  }
}
