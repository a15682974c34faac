import type { Block } from './block.ts'
import type { Look } from './look.ts'
import { Rendered } from './render.ts'
import { fit } from './text.ts'

/** One block in its place in the transcript, with the lines that it had when it was last rendered. */
export class Mounted {
  block: Block
  before: Block | undefined
  lines: string[] = []
  /** Its index among the others. */
  at = 0
  #rendered = new Rendered()
  #width = 0

  constructor(block: Block) {
    this.block = block
  }

  refresh(width: number, look: Look, open: boolean): void {
    this.lines = this.#rendered.lines(this.block, this.before, width, look, open)
    this.#width = width
  }

  /** Until it is rendered anew: what it was, and for one that never was, about as many lines as it will have. */
  standIn(width: number): string[] {
    if (this.#width === 0) return Array.from({ length: 2 + Math.ceil(roughSize(this.block) / width) }, () => '')
    return this.#width <= width ? this.lines : this.lines.map((line) => fit(line, width))
  }

  forget(): void {
    this.#rendered.forget()
  }
}

/** Whether a block would begin otherwise behind that one. */
export function beginsOtherwise(was: Block | undefined, is: Block | undefined): boolean {
  return was?.type !== is?.type || was?.by !== is?.by || was?.turn !== is?.turn
}

/** How much there is to render. */
export function roughSize(block: Block): number {
  return 'text' in block ? block.text.length : 100
}
