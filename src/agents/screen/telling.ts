import type { Emit } from '../pipe/speech.ts'

/** So much of a turn is shown while it works; all of it is on the screen itself. */
const mostShown = 256 * 1024

/** So many lines are remembered, to know which of a redrawn screen are new. */
const remembered = 500

/** Tells what is new on a screen: a line once it is whole or has stood still, and none twice. */
export class Telling {
  #emit: Emit
  /** The lines that were told last, and those that stood there at the last look. */
  #lines: string[] = []
  #shownLines: readonly string[] = []
  #open = ''
  #seen = ''
  #shown = 0
  #restless = false

  constructor(emit: Emit) {
    this.#emit = emit
  }

  /** Whether something was seen that is told once it stands still. */
  get restless(): boolean {
    return this.#restless
  }

  /** The text behind the prompt as it stands now; `over` when nothing more comes. */
  async tell(text: string, over = false): Promise<void> {
    const still = over || text === this.#seen
    this.#seen = text
    this.#restless = !still
    if (text === '' || this.#shown >= mostShown) return
    const lines = text.split('\n')
    const last = lines.pop()!
    let delta = ''
    for (const line of fresh(lines, this.#shownLines, this.#lines)) delta += this.#line(line)
    this.#shownLines = lines
    if (still) delta += this.#grow(last)
    this.#shown += delta.length
    if (delta !== '') await this.#emit({ type: 'text', delta })
  }

  /** A whole line; what of it was shown before it was whole is not said again. */
  #line(line: string): string {
    const delta = line.startsWith(this.#open) ? line.slice(this.#open.length) : `\n${line}`
    this.#open = ''
    this.#lines = [...this.#lines, line].slice(-remembered)
    return `${delta}\n`
  }

  #grow(last: string): string {
    if (last === this.#open) return ''
    const delta = last.startsWith(this.#open) ? last.slice(this.#open.length) : `\n${last}`
    this.#open = last
    return delta
  }
}

/** The lines behind those that stood there: the same beginning, a beginning that scrolled away, or whatever was never told. */
function fresh(lines: readonly string[], shown: readonly string[], told: readonly string[]): readonly string[] {
  for (let known = Math.min(lines.length, shown.length); known > 0; known--)
    if (shown.slice(-known).every((line, i) => line === lines[i])) return lines.slice(known)
  const before = new Set(told)
  return lines.filter((line) => !before.has(line))
}
