import type { DiffDocument } from './diff-document.ts'
import type { DiffFile } from './diff-file.ts'
import type { DiffPairs } from './diff-blocks.ts'
import { blockFrom } from './diff-blocks.ts'
import { lineKinds } from './diff-line-bytes.ts'

/** One row of a drawn diff. A line of -1 is the empty side of a pair. */
type DiffRow =
  | { type: 'file'; file: number }
  | { type: 'note'; file: number }
  | { type: 'line'; file: number; line: number }
  | { type: 'pair'; file: number; left: number; right: number }
  /** The comments on a line, shown below it. */
  | { type: 'talk'; file: number; line: number }

/** Files with more lines are closed until somebody opens them. */
export const largeFile = 2_000
/** In side-by-side view, the lines of longer files are paired simply by their order. */
const mostPaired = 20_000

export type RowsOptions = {
  isSplit: boolean
  /** Whether a file is open, by its place in the document. */
  isOpen(file: number): boolean
  /** Whether a remark about a file is shown below its name. */
  hasNote(file: number): boolean
  /** The lines of the document that have comments or an open form. */
  talks: ReadonlySet<number>
}

export const isOpenAtFirst = ({ first, end }: DiffFile) => end - first <= largeFile

/** The first line of a file to draw: its first hunk, or its very first line if it has no path. */
export function bodyStart({ first, end, hunks, newPath, oldPath }: DiffFile): number {
  if (newPath === undefined && oldPath === undefined) return first
  return hunks[0]?.line ?? end
}

/** The rows of a diff, found by number without a list of all of them. */
export class DiffRows {
  readonly #diff: DiffDocument
  readonly #pairs: DiffPairs
  readonly #options: RowsOptions
  /** The row at which each file begins, followed by the number of all rows. */
  readonly #starts: Float64Array
  readonly #bodies = new Map<number, { pairs?: Int32Array; talks: { after: number; line: number }[] }>()

  /** `bodies` passes the pairs of open files from one set of rows to the next, because computing them is expensive. */
  constructor(diff: DiffDocument, pairs: DiffPairs, options: RowsOptions) {
    this.#diff = diff
    this.#pairs = pairs
    this.#options = options
    this.#starts = new Float64Array(diff.files.length + 1)
    let row = 0
    for (let file = 0; file < diff.files.length; file++) {
      this.#starts[file] = row
      row += 1 + this.#rowsIn(file)
    }
    this.#starts[diff.files.length] = row
  }

  get count(): number {
    return this.#starts.at(-1)!
  }

  rowOfFile(file: number): number {
    return this.#starts[file] ?? 0
  }

  fileAt(row: number): number {
    let [low, high] = [0, this.#starts.length - 2]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#starts[middle]! <= row) low = middle
      else high = middle - 1
    }
    return Math.max(0, low)
  }

  at(row: number): DiffRow {
    const file = this.fileAt(row)
    let inside = row - this.#starts[file]! - 1
    if (inside < 0) return { type: 'file', file }
    if (this.#options.hasNote(file) && inside-- === 0) return { type: 'note', file }
    const { pairs, talks } = this.#body(file)
    for (const { after, line } of talks) {
      if (inside <= after) break
      if (inside === after + 1) return { type: 'talk', file, line }
      inside--
    }
    if (pairs) return { type: 'pair', file, left: pairs[inside * 2]!, right: pairs[inside * 2 + 1]! }
    return { type: 'line', file, line: bodyStart(this.#diff.files[file]!) + inside }
  }

  /** The row of a line of the document; -1 if its file is closed or the line is not drawn. */
  rowOfLine(line: number): number {
    const file = this.fileOfLine(line)
    const entry = this.#diff.files[file]
    if (!entry || !this.#options.isOpen(file) || line < bodyStart(entry)) return -1
    const { pairs, talks } = this.#body(file)
    const inside = pairs ? this.#rowOfPair(pairs, line) : line - bodyStart(entry)
    if (inside < 0) return -1
    const above = talks.filter(({ after }) => after < inside).length
    return this.#starts[file]! + 1 + (this.#options.hasNote(file) ? 1 : 0) + inside + above
  }

  fileOfLine(line: number): number {
    const { files } = this.#diff
    let [low, high] = [0, files.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (files[middle]!.first <= line) low = middle
      else high = middle - 1
    }
    return low
  }

  #rowOfPair(pairs: Int32Array, line: number): number {
    const at = pairs.indexOf(line)
    return at < 0 ? -1 : at >> 1
  }

  #rowsIn(file: number): number {
    const note = this.#options.hasNote(file) ? 1 : 0
    if (!this.#options.isOpen(file)) return note
    const { pairs, talks } = this.#body(file)
    const entry = this.#diff.files[file]!
    return note + (pairs ? pairs.length / 2 : entry.end - bodyStart(entry)) + talks.length
  }

  #body(file: number) {
    const known = this.#bodies.get(file)
    if (known) return known
    const entry = this.#diff.files[file]!
    const start = bodyStart(entry)
    const pairs = this.#options.isSplit && !entry.isCombined ? this.#pairsOf(start, entry.end) : undefined
    const talks = [...this.#options.talks]
      .filter((line) => line >= start && line < entry.end)
      .map((line) => ({ after: pairs ? this.#rowOfPair(pairs, line) : line - start, line }))
      .toSorted((a, b) => a.after - b.after || a.line - b.line)
      // Both sides of a row may have comments: the second side's are shown below the first's.
      .map(({ after, line }) => ({ after, line }))
    const body = pairs ? { pairs, talks } : { talks }
    this.#bodies.set(file, body)
    return body
  }

  /** The two sides of each row of a file, one row after another. */
  #pairsOf(start: number, end: number): Int32Array {
    const sides: number[] = []
    const isShort = end - start <= mostPaired
    for (let line = start; line < end;) {
      const kind = this.#diff.kind(line)
      if (kind !== lineKinds.removed && kind !== lineKinds.added) {
        // A remark about a missing newline belongs to the block around it; other lines fill the whole row.
        sides.push(line, line)
        line++
        continue
      }
      const { block, next } = blockFrom(this.#diff, line, end)
      const { removed, added } = block
      const paired =
        isShort && removed.length > 0 && added.length > 0 ? this.#pairs.pairs(block) : new Map<number, number>()
      let [left, right] = [0, 0]
      const zip = (leftEnd: number, rightEnd: number) => {
        while (left < leftEnd || right < rightEnd)
          sides.push(left < leftEnd ? removed[left++]! : -1, right < rightEnd ? added[right++]! : -1)
      }
      for (const [at, removedLine] of removed.entries()) {
        const partner = paired.get(removedLine)
        if (partner === undefined) continue
        zip(at, added.indexOf(partner))
        sides.push(removed[left++]!, added[right++]!)
      }
      zip(removed.length, added.length)
      line = next
    }
    return Int32Array.from(sides)
  }
}
