import type { AgentRow, Block } from '../transcript/block.ts'
import type { RenderContext } from '../transcript/markdown/render-context.ts'
import { promptMark } from '../style/screen-text.ts'
import { BlockRenderer } from '../transcript/blocks/block-renderer.ts'

/**
 * Everything that one agent did, as lines to scroll through; the view follows the newest. A block is rendered again only when it changes,
 * so that one more word of a long work costs one block.
 */
export class RowEvents {
  #context: RenderContext
  #rendered = new WeakMap<Block, { before: Block | undefined; width: number; lines: string[] }>()
  #blocks: readonly Block[] = []
  #width = 0
  #lines: string[] = []
  /** The first visible line; undefined while the view follows the end. */
  #top: number | undefined
  #most = 1

  constructor(context: RenderContext) {
    this.#context = context
  }

  follow(): void {
    this.#top = undefined
  }

  forget(): void {
    this.#rendered = new WeakMap()
    this.#blocks = []
  }

  scroll(by: number): void {
    const last = Math.max(0, this.#lines.length - this.#most)
    const top = Math.max(0, (this.#top ?? last) + by)
    this.#top = top >= last ? undefined : top
  }

  /** The visible lines, and how many lines are below them. */
  shown({ blocks }: AgentRow, width: number, most: number): { lines: string[]; below: number } {
    if (blocks !== this.#blocks || width !== this.#width) {
      this.#lines = blocks.flatMap((block, at) => this.#block(block, blocks[at - 1], width))
      this.#blocks = blocks
      this.#width = width
    }
    this.#most = most
    const all = this.#lines
    const from = Math.min(this.#top ?? Infinity, Math.max(0, all.length - most))
    const lines = all.slice(from, from + most)
    if (lines.length === 0) return { lines: [this.#context.theme.quiet('Nothing has happened yet.')], below: 0 }
    return { lines, below: all.length - from - lines.length }
  }

  #block(block: Block, before: Block | undefined, width: number): string[] {
    const known = this.#rendered.get(block)
    if (known && known.before === before && known.width === width) return known.lines
    // Terminals jump only to the person's own prompts.
    const lines = new BlockRenderer()
      .lines(block, before, width, this.#context, false)
      .map((line) => line.replace(promptMark, ''))
    this.#rendered.set(block, { before, width, lines })
    return lines
  }
}
