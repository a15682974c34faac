import type { IBuffer, Terminal as Emulator } from '@xterm/headless'

/** The screen is read after this many bytes, so that between two reads no more lines scroll off than are remembered. */
const pieceBytes = 8 * 1024
const remembered = 3 * pieceBytes

/** A spinner at the beginning of a line. Changes in such a line, numbers included, do not make it a new line. */
const spins = /^\s*[\u2800-\u28ff·✢✳✶✻✽*○◦]\s/
const changing = /[\d\u2800-\u28ff·✢✳✶✻✽*○◦]+/g

/**
 * Turns the output of a terminal into the lines that it showed. Each line is emitted once, however often the program redraws its screen;
 * a line that is shown twice is emitted twice. A line is emitted when it scrolls off the screen, or when it is unchanged on the screen in
 * two reads.
 */
export class ShownLines {
  #emulator: Emulator
  #give: (line: string) => void
  /** Lines on the screen that were already emitted, and how often. */
  #given = new Map<string, number>()
  /** The lines at the last read. */
  #before = new Map<string, number>()
  /** How many scrolled-off rows were read, and the beginning of a long line whose end is still on the screen. */
  #passed = 0
  #begun = ''

  static async open(size: { cols: number; rows: number }, give: (line: string) => void): Promise<ShownLines> {
    const { default: headless } = await import('@xterm/headless')
    const options = { ...size, allowProposedApi: true, logLevel: 'off' as const, scrollback: remembered }
    return new ShownLines(new headless.Terminal({ ...options, convertEol: true }), give)
  }

  private constructor(emulator: Emulator, give: (line: string) => void) {
    this.#emulator = emulator
    this.#give = give
  }

  /** Draws output; lines that scroll off are emitted before this resolves. */
  async draw(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes)
      await new Promise<void>((resolve) => this.#emulator.write(piece, resolve))
      this.#scrolled()
    }
  }

  resize(cols: number, rows: number): void {
    if (cols === this.#emulator.cols && rows === this.#emulator.rows) return
    this.#scrolled()
    this.#emulator.resize(cols, rows)
    // The rows are wrapped again; those above the screen were already emitted.
    this.#passed = this.#emulator.buffer.normal.baseY
    this.#begun = ''
  }

  /** Emits the lines that are unchanged on the screen since the last read; with `all` also the new ones. */
  look(all = false): void {
    const now = new Map<string, number>()
    const given = new Map<string, number>()
    for (const line of this.#screenLines()) {
      const key = keyOf(line)
      const nth = (now.get(key) ?? 0) + 1
      now.set(key, nth)
      if (nth > (this.#given.get(key) ?? 0)) {
        if (!all && nth > (this.#before.get(key) ?? 0)) continue
        this.#give(line)
      }
      given.set(key, nth)
    }
    this.#before = now
    this.#given = given
  }

  /** Emits the lines that have scrolled off since the last read, unless they were emitted while they were on the screen. */
  #scrolled(): void {
    const buffer = this.#emulator.buffer.normal
    for (; this.#passed < buffer.baseY; this.#passed++) {
      this.#begun += textAt(buffer, this.#passed)
      if (buffer.getLine(this.#passed + 1)?.isWrapped) continue
      this.#passOne(this.#begun)
      this.#begun = ''
    }
    if (this.#passed < remembered / 2) return
    // Drops the rows above the screen, so that the emulator never has to drop rows that were not read.
    this.#emulator.options.scrollback = 0
    this.#emulator.options.scrollback = remembered
    this.#passed = this.#emulator.buffer.normal.baseY
  }

  #passOne(raw: string): void {
    const line = raw.trimEnd()
    if (line === '') return
    const key = keyOf(line)
    const given = this.#given.get(key) ?? 0
    if (given === 0) return this.#give(line)
    this.#given.set(key, given - 1)
  }

  #screenLines(): string[] {
    const buffer = this.#emulator.buffer.active
    const lines: string[] = []
    let line = buffer.type === 'normal' ? this.#begun : ''
    for (let row = buffer.baseY; row < buffer.baseY + this.#emulator.rows; row++) {
      line += textAt(buffer, row)
      if (buffer.getLine(row + 1)?.isWrapped && row + 1 < buffer.baseY + this.#emulator.rows) continue
      lines.push(line.trimEnd())
      line = ''
    }
    return lines.filter((one) => one.trim() !== '')
  }
}

/** The part of a line by which it is compared with other lines. */
const keyOf = (line: string) => (spins.test(line) ? line.replaceAll(changing, '#') : line)

const textAt = (buffer: IBuffer, row: number) => buffer.getLine(row)?.translateToString(true) ?? ''
