import type { Block } from './block.ts'
import type { Look } from './look.ts'
import { speaks } from './block.ts'
import { Rendered } from './render.ts'
import { inside, sided } from './sides.ts'

/** One block in its place in the transcript, with the lines that it had when it was last rendered. */
export class Mounted {
  block: Block
  before: Block | undefined
  lines: string[] = []
  /** Its index among the others. */
  at = 0
  #rendered = new Rendered()
  #shown = false

  constructor(block: Block) {
    this.block = block
  }

  refresh(columns: number, look: Look, open: boolean): void {
    const lines = this.#rendered.lines(this.block, this.before, look.sides ? inside(columns) : columns, look, open)
    this.lines = look.sides ? lines.map((line) => sided(line, columns, look.theme)) : lines
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
export function beginsOtherwise(was: Block | undefined, is: Block | undefined): boolean {
  const spoke = (block: Block | undefined) => block !== undefined && speaks(block)
  return was?.type !== is?.type || was?.by !== is?.by || was?.turn !== is?.turn || spoke(was) !== spoke(is)
}

/** How much there is to render. */
export function roughSize(block: Block): number {
  return 'text' in block ? block.text.length : 100
}
