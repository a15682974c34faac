import type { Io } from '../../core/io.ts'
import { stripAnsi } from '../../base/ansi.ts'

const push = '\u001b[22;0t'
const pop = '\u001b[23;0t'

/**
 * The status line is the title of the person's window: a row of the screen would have to be taken from the CLI, which
 * draws on all of them and would tear it.
 */
export class Window {
  #out: Io['out'] | undefined

  constructor(out: Io['out']) {
    this.#out = out.isTTY ? out : undefined
    this.#out?.write(push)
  }

  show(words: string): void {
    const line = stripAnsi(words).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    this.#out?.write(`\u001b]2;${line}\u0007`)
  }

  giveBack(): void {
    this.#out?.write(pop)
  }
}
