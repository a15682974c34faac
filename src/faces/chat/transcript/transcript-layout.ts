import type { Block } from './block.ts'
import type { RenderContext } from './render-context.ts'
import { isAgentSpeech } from './block.ts'
import { BlockRenderer } from './block-renderer.ts'
import { innerWidth, withSides } from '../border.ts'

/** A line that is looked at: the block it belongs to, and how far into that it is. */
export type ScrollAnchor = { mounted: PlacedBlock; into: number }

/** Mounted blocks one below the other: their lines as they were last laid out, and where each block began. */
export class TranscriptLayout {
  readonly lines: string[] = []
  #head: readonly string[] = []
  /** How many of the lines are the blocks'; empty ones down to the lower edge follow. */
  #full = 0
  #starts: number[] = []
  #blocks: PlacedBlock[] = []
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
  layOut(blocks: readonly PlacedBlock[], width: number): number | undefined {
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
  blockAt(line: number): PlacedBlock | undefined {
    return this.#blocks[this.#indexAt(line)]
  }

  spotAt(line: number): ScrollAnchor | undefined {
    const index = Math.max(0, this.#indexAt(line))
    const mounted = this.#blocks[index]
    return mounted && { mounted, into: line - this.#starts[index]! }
  }

  /** The line where a spot is now; undefined when its block is gone. */
  lineOf({ mounted, into }: ScrollAnchor): number | undefined {
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

/** One block in its place in the transcript, with the lines that it had when it was last rendered. */
export class PlacedBlock {
  block: Block
  before: Block | undefined
  lines: string[] = []
  /** Its index among the others. */
  at = 0
  #rendered = new BlockRenderer()
  #shown = false

  constructor(block: Block) {
    this.block = block
  }

  refresh(columns: number, context: RenderContext, open: boolean): void {
    const lines = this.#rendered.lines(
      this.block,
      this.before,
      context.sides ? innerWidth(columns) : columns,
      context,
      open,
    )
    this.lines = context.sides ? lines.map((line) => withSides(line, columns, context.theme)) : lines
    this.#shown = true
  }

  /** About how many lines it has, as long as it was never rendered. */
  guess(width: number): number {
    return this.#shown ? 0 : 2 + Math.ceil(roughSize(this.block) / width)
  }

  forget(): void {
    this.#rendered.forget()
  }
}

/** Whether a block would begin otherwise behind that one. */
export function leadDiffers(was: Block | undefined, is: Block | undefined): boolean {
  const spoke = (block: Block | undefined) => block !== undefined && isAgentSpeech(block)
  return was?.type !== is?.type || was?.by !== is?.by || was?.turn !== is?.turn || spoke(was) !== spoke(is)
}

/** How much there is to render. */
export function roughSize(block: Block): number {
  return 'text' in block ? block.text.length : 100
}
