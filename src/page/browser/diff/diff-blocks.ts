import type { DiffDocument } from './diff-document.ts'
import type { WordPart } from './diff-words.ts'
import { lineKinds } from './diff-line-bytes.ts'
import { pairedLines, wordChanges } from './diff-words.ts'

/** Removed lines and the added lines that follow them, by their line numbers in the document. */
type DiffBlock = { removed: readonly number[]; added: readonly number[] }

/** Longer blocks are drawn without pairing their lines. */
const mostLines = 400
/** The number of blocks whose pairs are cached. */
const mostKept = 300
/** How many bytes of a line are compared. */
const mostBytes = 2_000

/** The block that begins at a line, and the line after the block; notes about missing newlines may appear inside it. */
export function blockFrom(diff: DiffDocument, first: number, end: number): { block: DiffBlock; next: number } {
  const removed: number[] = []
  const added: number[] = []
  let line = first
  for (; line < end; line++) {
    const kind = diff.kind(line)
    if (kind === lineKinds.removed && added.length === 0) removed.push(line)
    else if (kind === lineKinds.added) added.push(line)
    else if (kind !== lineKinds.note) break
  }
  return { block: { removed, added }, next: line }
}

/** Finds for each changed line the line on the other side to compare it with, and marks the words that differ. */
export class DiffPairs {
  readonly #diff: DiffDocument
  readonly #kept = new Map<number, ReadonlyMap<number, number>>()

  constructor(diff: DiffDocument) {
    this.#diff = diff
  }

  /** The parts of a changed line; undefined if the line has no marks. */
  words(line: number): WordPart[] | undefined {
    const partner = this.#pairsAround(line)?.get(line)
    if (partner === undefined) return undefined
    const isAdded = this.#diff.kind(line) === lineKinds.added
    const [text, other] = [this.#diff.text(line, mostBytes), this.#diff.text(partner, mostBytes)]
    return isAdded ? wordChanges(other, text)?.after : wordChanges(text, other)?.before
  }

  pairs(block: DiffBlock): ReadonlyMap<number, number> {
    const texts = (lines: readonly number[]) => lines.map((line) => this.#diff.text(line, mostBytes))
    const found = new Map<number, number>()
    for (const [left, right] of pairedLines(texts(block.removed), texts(block.added))) {
      found.set(block.removed[left]!, block.added[right]!)
      found.set(block.added[right]!, block.removed[left]!)
    }
    return found
  }

  #pairsAround(line: number): ReadonlyMap<number, number> | undefined {
    const first = this.#blockStart(line)
    if (first === undefined) return undefined
    const known = this.#kept.get(first)
    if (known) return known
    const { block } = blockFrom(this.#diff, first, Math.min(this.#diff.lineCount, first + 2 * mostLines))
    const pairs = block.added.length > mostLines ? new Map<number, number>() : this.pairs(block)
    if (this.#kept.size >= mostKept) this.#kept.delete(this.#kept.keys().next().value!)
    this.#kept.set(first, pairs)
    return pairs
  }

  /** The first removed line of the block around a line; undefined if the block is too long or has only one side. */
  #blockStart(line: number): number | undefined {
    const { removed, added, note } = lineKinds
    let at = line
    const back = (kinds: readonly number[]) => {
      while (at > 0 && line - at < mostLines && kinds.includes(this.#diff.kind(at - 1))) at--
    }
    if (this.#diff.kind(line) === added) back([added, note])
    back([removed, note])
    return this.#diff.kind(at) === removed && line - at < mostLines ? at : undefined
  }
}
