import type { Mounted } from './mounted.ts'

/** A line that is looked at: the block it belongs to, and how far into that it is. */
export type Spot = { mounted: Mounted; into: number }

/** Mounted blocks one below the other: their lines as they were last laid out, and where each block began. */
export class Layout {
  readonly lines: string[] = []
  #head: readonly string[] = []
  /** How many of the lines are the blocks'; empty ones down to the lower edge follow. */
  #full = 0
  #starts: number[] = []
  #blocks: Mounted[] = []
  #dirty = 0

  get full(): number {
    return this.#full
  }

  /** From that block on the lines are no longer right. */
  touch(at: number): void {
    this.#dirty = Math.min(this.#dirty, at)
  }

  /** What stands above the first block. */
  setHead(head: readonly string[]): void {
    if (head.length === this.#head.length && head.every((line, at) => line === this.#head[at])) return
    this.#head = head
    this.touch(0)
  }

  /** Lays out what was touched; undefined when nothing was, else the first block that was. */
  layOut(blocks: readonly Mounted[], width: number): number | undefined {
    const from = this.#dirty
    if (from === Infinity) return undefined
    const { lines } = this
    this.#dirty = Infinity
    lines.length = from === 0 ? 0 : (this.#starts[from] ?? this.#full)
    if (from === 0) lines.push(...this.#head)
    this.#starts.length = this.#blocks.length = from
    for (let at = from; at < blocks.length; at++) {
      const mounted = blocks[at]!
      mounted.at = at
      this.#starts.push(lines.length)
      this.#blocks.push(mounted)
      // Out of sight an old line, or an empty one, holds the place of the new one.
      for (const line of mounted.lines) lines.push(line)
      for (let left = mounted.guess(width); left > 0; left--) lines.push('')
    }
    this.#full = lines.length
    return from
  }

  /** Goes on with empty lines down to that many, and no further. */
  fill(height: number, empty: string): void {
    this.lines.length = this.#full
    while (this.lines.length < height) this.lines.push(empty)
  }

  /** The block at a line; undefined above the first. */
  blockAt(line: number): Mounted | undefined {
    return this.#blocks[this.#indexAt(line)]
  }

  spotAt(line: number): Spot | undefined {
    const index = Math.max(0, this.#indexAt(line))
    const mounted = this.#blocks[index]
    return mounted && { mounted, into: line - this.#starts[index]! }
  }

  /** The line where a spot is now; undefined when its block is gone. */
  lineOf({ mounted, into }: Spot): number | undefined {
    if (this.#blocks[mounted.at] !== mounted) return undefined
    return this.#starts[mounted.at]! + Math.min(into, Math.max(0, mounted.lines.length - 1))
  }

  #indexAt(line: number): number {
    let [low, high] = [0, this.#starts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#starts[middle]! <= line) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}
