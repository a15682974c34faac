import type { Screen } from '../../core/screen/terminal.ts'
import type { Emulator } from './load.ts'
import { PrivateModes } from './modes.ts'
import { painted } from './paint.ts'

/** An emulator that is behind by so much has the program wait, and by so much lets it go on. */
const mostBehind = 512 * 1024
const closeBehind = 128 * 1024

/** What a program draws, rendered. The emulator is slower than a PTY: `flow` says when the program is to wait. */
export class Glass {
  #emulator: Emulator
  #behind = 0
  #drawn = 0
  #waits = false
  #modes: PrivateModes
  #flow: (go: boolean) => void
  #title: string | undefined
  #called: string | undefined

  /** `reply` is what a terminal answers to a program that asks it something. */
  constructor(emulator: Emulator, wires: { reply(text: string): void; flow(go: boolean): void }) {
    this.#emulator = emulator
    this.#flow = wires.flow
    this.#modes = new PrivateModes(emulator)
    emulator.onData(wires.reply)
    // Whoever asks for its colours waits for an answer: white on black, as most are.
    for (const [what, colour] of [
      [10, 'ffff/ffff/ffff'],
      [11, '0000/0000/0000'],
    ] as const)
      emulator.parser.registerOscHandler(what, (asked) => {
        if (asked === '?') wires.reply(`\u001b]${what};rgb:${colour}\u001b\\`)
        return asked === '?'
      })
    emulator.onTitleChange((title) => (this.#title = title || undefined))
  }

  draw(bytes: Uint8Array): void {
    this.#behind += bytes.length
    this.#emulator.write(bytes, () => {
      this.#behind -= bytes.length
      this.#drawn += bytes.length
      if (this.#waits && this.#behind < closeBehind) this.#setFlow(true)
    })
    if (!this.#waits && this.#behind > mostBehind) this.#setFlow(false)
  }

  /** Resolves when everything that was drawn is on the screen. */
  drawn(): Promise<void> {
    return new Promise((resolve) => this.#emulator.write('', resolve))
  }

  resize(cols: number, rows: number): void {
    this.#emulator.resize(cols, rows)
  }

  /** No more rows that scrolled off are held than these. */
  remember(rows: number): void {
    this.#emulator.options.scrollback = rows
  }

  call(title: string): void {
    this.#called = title
  }

  async screen(): Promise<Screen> {
    await this.drawn()
    const { active } = this.#emulator.buffer
    const title = this.#title ?? this.#called
    return {
      rows: this.#rows(active.baseY, active.baseY + this.#emulator.rows),
      cols: this.#emulator.cols,
      cursor: { row: active.cursorY, col: active.cursorX },
      ...(title === undefined ? {} : { title }),
    }
  }

  async history(count: number): Promise<string[]> {
    await this.drawn()
    const { active, normal } = this.#emulator.buffer
    const screen = this.#rows(active.baseY, active.baseY + this.#emulator.rows)
    const shown = screen.slice(0, screen.findLastIndex((row) => row !== '') + 1)
    const above = Math.max(0, count - shown.length)
    return [...this.#rows(Math.max(0, normal.baseY - above), normal.baseY, normal), ...shown.slice(-count)]
  }

  /** `at` is how many bytes are in the picture. */
  paint(): Promise<{ at: number; text: string }> {
    return new Promise((resolve) =>
      this.#emulator.write('', () => resolve({ at: this.#drawn, text: painted(this.#emulator, this.#modes.text()) })),
    )
  }

  get modes() {
    return this.#emulator.modes
  }

  #rows(from: number, to: number, buffer = this.#emulator.buffer.active): string[] {
    return Array.from({ length: to - from }, (_, i) => buffer.getLine(from + i)?.translateToString(true) ?? '')
  }

  #setFlow(go: boolean): void {
    this.#waits = !go
    this.#flow(go)
  }
}
