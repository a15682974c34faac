/** So much is kept for whoever reads later. */
const mostKept = 8 * 1024 ** 2

/** The last bytes of a stream, by their position; a reader that is too slow goes on with the oldest kept. */
export class RecentBytes {
  #chunks: { at: number; bytes: Uint8Array }[] = []
  #most: number
  #kept = 0
  #ended = false
  #waiting: (() => void)[] = []
  /** Where the next byte will be. */
  end = 0

  constructor(most = mostKept) {
    this.#most = most
  }

  /** Positions grow: what lies between the last and this was not seen. */
  push(bytes: Uint8Array, at = this.end): void {
    if (bytes.length === 0) return
    this.#chunks.push({ at, bytes })
    this.end = at + bytes.length
    this.#kept += bytes.length
    while (this.#kept > this.#most && this.#chunks.length > 1) this.#kept -= this.#chunks.shift()!.bytes.length
    this.#wake()
  }

  /** Nothing more comes; what is kept can still be read. */
  close(): void {
    this.#ended = true
    this.#wake()
  }

  async *follow(after: number): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    for (let next = after; ;) {
      const chunk = this.#chunkAt(next)
      if (chunk) {
        const at = Math.max(next, chunk.at)
        next = chunk.at + chunk.bytes.length
        yield { at, bytes: chunk.bytes.subarray(at - chunk.at) }
      } else if (this.#ended) return
      else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** The first that ends after a position; most readers are at the newest ones. */
  #chunkAt(position: number) {
    let index = this.#chunks.length
    while (index > 0 && this.#chunks[index - 1]!.at + this.#chunks[index - 1]!.bytes.length > position) index--
    return this.#chunks[index]
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
