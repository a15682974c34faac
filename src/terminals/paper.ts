import type { Screen } from '../core/screen/terminal.ts'

/** A screen in memory and the bytes that drew it. */
export class Paper {
  #cols = 80
  #height = 24
  #lines = ['']
  #bytes: Uint8Array[] = []
  #ended = false
  #title: string | undefined
  #waiting: (() => void)[] = []

  constructor(size = { cols: 80, rows: 24 }) {
    this.resize(size.cols, size.rows)
  }

  print(text: string): void {
    const [first, ...rest] = text.replaceAll('\r', '').split('\n')
    this.#lines.push(this.#lines.pop()! + first, ...rest)
    this.#keep(text)
  }

  clear(): void {
    this.#lines = ['']
    this.#keep('\u001b[2J\u001b[H')
  }

  resize(cols: number, rows: number): void {
    this.#cols = cols
    this.#height = rows
  }

  retitle(title: string): void {
    this.#title = title
  }

  history(rows: number): string[] {
    return this.#folded().slice(-rows)
  }

  #folded(): string[] {
    return this.#lines.flatMap((line) => folded(line, this.#cols))
  }

  screen(): Screen {
    const all = this.#folded()
    const shown = all.slice(-this.#height)
    const rows = [...shown, ...Array<string>(this.#height - shown.length).fill('')]
    return {
      rows,
      cols: this.#cols,
      cursor: { row: shown.length - 1, col: shown.at(-1)!.length },
      ...(this.#title === undefined ? {} : { title: this.#title }),
    }
  }

  paint(): { at: number; text: string } {
    const { rows, cursor } = this.screen()
    const at = this.#bytes.reduce((sum, { length }) => sum + length, 0)
    return { at, text: `\u001b[2J\u001b[H${rows.join('\r\n')}\u001b[${cursor.row + 1};${cursor.col + 1}H` }
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  /** Everything drawn from a position on, as it comes, until the program is gone. */
  async *follow(after: number): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    let at = 0
    for (let i = 0; ;) {
      const bytes = this.#bytes[i]
      if (bytes) {
        if (at + bytes.length > after) yield { at: Math.max(at, after), bytes: bytes.subarray(Math.max(0, after - at)) }
        at += bytes.length
        i++
      } else if (this.#ended) return
      else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #keep(text: string) {
    this.#bytes.push(new TextEncoder().encode(text))
    this.#wake()
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

function folded(line: string, cols: number): string[] {
  return line === '' ? [''] : (line.match(new RegExp(`.{1,${cols}}`, 'gu')) ?? [])
}
