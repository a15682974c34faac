import type { Blobs, BlobWriter } from '../../core/talk/store.ts'
import type { Ref } from '../../core/talk/ref.ts'
import { cutEnds, joinCut, longestBody } from '../../core/talk/body.ts'

/** A plain answer as it goes by: in memory while it is short, its two ends and a blob once it is long. */
export class Answer {
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
