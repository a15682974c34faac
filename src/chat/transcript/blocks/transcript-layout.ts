import type { Block } from '../block.ts'
import type { RenderContext } from '../markdown/render-context.ts'
import { isAgentSpeech } from '../block.ts'
import { BlockRenderer } from './block-renderer.ts'

/** A line that must stay in place: its block, and how many lines into the block it is. */
export type ScrollAnchor = { placed: PlacedBlock; into: number }

/** The lines of all blocks as they were last laid out, and the line at which each block begins. */
export class TranscriptLayout {
  readonly lines: string[] = []
  #head: readonly string[] = []
  #starts: number[] = []
  #blocks: PlacedBlock[] = []
  #dirty = 0

  /** Marks the lines from a block on as outdated. */
  touch(at: number): void {
    this.#dirty = Math.min(this.#dirty, at)
  }

  /** Sets the lines above the first block. */
  setHead(head: readonly string[]): void {
    if (head.length === this.#head.length && head.every((line, at) => line === this.#head[at])) return
    this.#head = head
    this.touch(0)
  }

  /** Lays out the blocks that were touched. Returns the index of the first of them; undefined if no block was touched. */
  layOut(blocks: readonly PlacedBlock[], width: number): number | undefined {
    const from = this.#dirty
    if (from === Infinity) return undefined
    const { lines } = this
    this.#dirty = Infinity
    lines.length = from === 0 ? 0 : (this.#starts[from] ?? lines.length)
    if (from === 0) lines.push(...this.#head)
    this.#starts.length = this.#blocks.length = from
    for (let at = from; at < blocks.length; at++) {
      const placed = blocks[at]!
      placed.at = at
      this.#starts.push(lines.length)
      this.#blocks.push(placed)
      // Out of view, old or empty lines keep the place of the new ones.
      for (const line of placed.lines) lines.push(line)
      for (let left = placed.guess(width); left > 0; left--) lines.push('')
    }
    return from
  }

  /** The block at a line; undefined above the first block. */
  blockAt(line: number): PlacedBlock | undefined {
    return this.#blocks[this.#indexAt(line)]
  }

  anchorAt(line: number): ScrollAnchor | undefined {
    const index = Math.max(0, this.#indexAt(line))
    const placed = this.#blocks[index]
    return placed && { placed, into: line - this.#starts[index]! }
  }

  /** The current line of an anchor; undefined if its block is gone. */
  lineOf({ placed, into }: ScrollAnchor): number | undefined {
    if (this.#blocks[placed.at] !== placed) return undefined
    return this.#starts[placed.at]! + Math.min(into, Math.max(0, placed.lines.length - 1))
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

/** A block in its place in the transcript, with the lines of its last rendering. */
export class PlacedBlock {
  block: Block
  before: Block | undefined
  lines: string[] = []
  /** The index of the block. */
  at = 0
  #rendered = new BlockRenderer()
  #shown = false

  constructor(block: Block) {
    this.block = block
  }

  /** The row of a board that a line of the block belongs to. */
  rowAt(line: number): number | undefined {
    const key = this.#rendered.rowKeys[line]
    return key === undefined || key < 0 ? undefined : key
  }

  refresh(width: number, context: RenderContext, open: boolean, isOpen?: (key: number) => boolean): void {
    this.lines = this.#rendered.lines(this.block, this.before, width, context, open, isOpen)
    this.#shown = true
  }

  /** An estimate of its lines if it was never rendered, otherwise 0. */
  guess(width: number): number {
    return this.#shown ? 0 : 2 + Math.ceil(roughSize(this.block) / width)
  }

  forget(): void {
    this.#rendered.forget()
  }
}

/** Whether a block would begin differently after a different previous block. */
export function leadDiffers(was: Block | undefined, is: Block | undefined): boolean {
  const spoke = (block: Block | undefined) => block !== undefined && isAgentSpeech(block)
  return was?.type !== is?.type || was?.by !== is?.by || was?.turn !== is?.turn || spoke(was) !== spoke(is)
}

/** About how many characters there are to render. */
export function roughSize(block: Block): number {
  return 'text' in block ? block.text.length : block.type === 'board' ? 80 * block.rows.length : 100
}
