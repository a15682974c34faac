/** How many bytes are kept for readers that come later. */
const mostKept = 8 * 1024 ** 2

/** Keeps the last bytes of a stream by their position. A reader that is too slow continues with the oldest bytes that are kept. */
export class RecentBytes {
  #chunks: { at: number; bytes: Uint8Array }[] = []
  #most: number
  #kept = 0
  #ended = false
  #waiting: (() => void)[] = []
  /** The position of the next byte. */
  end = 0

  constructor(most = mostKept) {
    this.#most = most
  }

  /** Adds bytes. A position beyond `end` means that the bytes in between were never seen. */
  push(bytes: Uint8Array, at = this.end): void {
    if (bytes.length === 0) return
    this.#chunks.push({ at, bytes })
    this.end = at + bytes.length
    this.#kept += bytes.length
    while (this.#kept > this.#most && this.#chunks.length > 1) this.#kept -= this.#chunks.shift()!.bytes.length
    this.#wake()
  }

  /** Ends the stream; the kept bytes can still be read. */
  close(): void {
    this.#ended = true
    this.#wake()
  }

  /** Yields the kept bytes after a position, then new bytes as they come. */
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

  /** Finds the first chunk that ends after a position. The search starts at the newest, where most readers are. */
  #chunkAt(position: number) {
    let index = this.#chunks.length
    while (index > 0 && this.#chunks[index - 1]!.at + this.#chunks[index - 1]!.bytes.length > position) index--
    return this.#chunks[index]
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
