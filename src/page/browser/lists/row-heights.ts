/** How many rows share one sum of their differences from the estimate. */
const blockSize = 256

/**
 * The heights of the rows of a long list: each row has the estimated height until it is measured, so that a million rows need almost no
 * memory.
 */
export class RowHeights {
  readonly count: number
  readonly #estimate: number
  readonly #measured = new Map<number, number>()
  /** For each block of rows, how much higher its measured rows are than the estimate. */
  readonly #blocks: Float64Array

  constructor(count: number, estimate: number) {
    this.count = count
    this.#estimate = estimate
    this.#blocks = new Float64Array(Math.ceil(count / blockSize))
  }

  /** Records a measured height; returns by how much the row has grown. */
  measure(row: number, height: number): number {
    if (row < 0 || row >= this.count) return 0
    const grown = height - this.of(row)
    if (grown === 0) return 0
    this.#measured.set(row, height)
    this.#blocks[Math.floor(row / blockSize)]! += grown
    return grown
  }

  of(row: number): number {
    return this.#measured.get(row) ?? this.#estimate
  }

  get total(): number {
    return this.count * this.#estimate + this.#blocks.reduce((sum, grown) => sum + grown, 0)
  }

  /** The offset at which a row begins; the row after the last one begins at the end. */
  top(row: number): number {
    const block = Math.floor(row / blockSize)
    let top = block * blockSize * this.#estimate
    for (let at = 0; at < block; at++) top += this.#blocks[at]!
    for (let at = block * blockSize; at < row; at++) top += this.of(at)
    return top
  }

  /** The row at a distance from the top: the first or the last one if the distance lies outside. */
  rowAt(distance: number): number {
    let top = 0
    let block = 0
    for (; block < this.#blocks.length - 1; block++) {
      const height = blockSize * this.#estimate + this.#blocks[block]!
      if (top + height > distance) break
      top += height
    }
    let row = block * blockSize
    for (; row < this.count - 1; row++) {
      top += this.of(row)
      if (top > distance) break
    }
    return Math.max(0, row)
  }
}
