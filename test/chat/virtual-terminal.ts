import type { Terminal } from '@earendil-works/pi-tui'
import type { Terminal as Emulator } from '@xterm/headless'
import headless from '@xterm/headless'

/** A terminal in memory, with an emulator that shows what a person would see. */
export class VirtualTerminal implements Terminal {
  readonly kittyProtocolActive = false
  /** Everything that was ever written to the terminal. */
  written = ''
  started = false
  #screen: Emulator
  #input: (data: string) => void = () => {}
  #resized: () => void = () => {}
  /** The colour that the terminal names when it is asked for its background. */
  #background: string | undefined

  constructor(columns: number, rows: number, background?: string) {
    this.#screen = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1000 })
    this.#background = background
  }

  /** The emulator behind the terminal, for tests that look at more than the words. */
  get emulator(): Emulator {
    return this.#screen
  }

  get columns(): number {
    return this.#screen.cols
  }

  get rows(): number {
    return this.#screen.rows
  }

  start(onInput: (data: string) => void, onResize: () => void): void {
    this.started = true
    this.#input = onInput
    this.#resized = onResize
  }

  stop(): void {
    this.started = false
  }

  async drainInput(): Promise<void> {}

  write(data: string): void {
    this.written += data
    this.#screen.write(data)
    if (data.includes('\x1b]11;?') && this.#background)
      setImmediate(() => this.#input(`\x1b]11;${this.#background}\x07`))
  }

  /** Keys as a terminal sends them, one after the other. */
  press(...keys: string[]): void {
    for (const key of keys) this.#input(key)
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows)
    this.#resized()
  }

  /** The rows of the screen, once everything that was written has arrived. */
  async lines(): Promise<string[]> {
    await new Promise<void>((resolve) => this.#screen.write('', resolve))
    const { active } = this.#screen.buffer
    return Array.from(
      { length: this.rows },
      (_, at) => active.getLine(active.viewportY + at)?.translateToString(true) ?? '',
    )
  }

  /** The buffer that is shown. */
  async buffer(): Promise<'normal' | 'alternate'> {
    await this.lines()
    return this.#screen.buffer.active.type
  }

  moveBy(lines: number): void {
    if (lines !== 0) this.write(lines > 0 ? `\x1b[${lines}B` : `\x1b[${-lines}A`)
  }

  hideCursor(): void {
    this.write('\x1b[?25l')
  }

  showCursor(): void {
    this.write('\x1b[?25h')
  }

  clearLine(): void {
    this.write('\x1b[K')
  }

  clearFromCursor(): void {
    this.write('\x1b[J')
  }

  clearScreen(): void {
    this.write('\x1b[2J\x1b[H')
  }

  setTitle(): void {}

  setProgress(): void {}
}
