/** A line longer than this cannot be a message of a CLI. */
const longestLine = 64 * 1024 * 1024

/** Splits a stream into lines. Lines beyond the limit are dropped and counted. */
export class Lines {
  #parts: string[] = []
  #length = 0
  #limit: number
  dropped = 0

  constructor(limit = longestLine) {
    this.#limit = limit
  }

  *push(text: string): Generator<string> {
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      this.#keep(text.slice(from, at))
      yield* this.end()
      from = at + 1
    }
    this.#keep(text.slice(from))
  }

  /** Yields the text after the last line end. */
  *end(): Generator<string> {
    const whole = this.#length <= this.#limit
    const line = whole ? this.#parts.join('') : ''
    if (!whole) this.dropped++
    this.#parts = []
    this.#length = 0
    if (line.trim() !== '') yield line
  }

  #keep(part: string): void {
    this.#length += part.length
    if (this.#length > this.#limit) this.#parts = []
    else if (part !== '') this.#parts.push(part)
  }
}
