import type { IBuffer, IBufferCell } from '@xterm/headless'
import type { Picture, Screen } from '../../core/screen/terminal.ts'
import type { Emulator } from './libraries.ts'

/** The program is paused when the emulator has this many bytes left to draw. */
const pauseBytes = 512 * 1024
const resumeBytes = 128 * 1024

/** A program's output, rendered. The emulator is slower than a PTY: `flow` pauses and resumes the program. */
export class EmulatedScreen {
  #emulator: Emulator
  #behind = 0
  #drawn = 0
  #waits = false
  #modes: PrivateModes
  #flow: (go: boolean) => void
  #title: string | undefined
  #called: string | undefined

  /** `reply` sends the terminal's answer to a program that queried it. */
  constructor(emulator: Emulator, wires: { reply(text: string): void; flow(go: boolean): void }) {
    this.#emulator = emulator
    this.#flow = wires.flow
    this.#modes = new PrivateModes(emulator)
    emulator.onData(wires.reply)
    // A program that asks for the colours waits for an answer: white on black, as in most terminals.
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
      if (this.#waits && this.#behind < resumeBytes) this.#setFlow(true)
    })
    if (!this.#waits && this.#behind > pauseBytes) this.#setFlow(false)
  }

  /** Resolves when every byte so far is on the screen. */
  drawn(): Promise<void> {
    return new Promise((resolve) => this.#emulator.write('', resolve))
  }

  resize(cols: number, rows: number): void {
    this.#emulator.resize(cols, rows)
  }

  /** Sets how many scrolled-off rows are kept. */
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
      title,
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

  /** Draws the present screen with this many of the rows above it; `at` is the number of bytes from which it was made. */
  paint(above: number): Promise<Picture> {
    return new Promise((resolve) =>
      this.#emulator.write('', () => {
        const { cols, rows } = this.#emulator
        resolve({ at: this.#drawn, text: painted(this.#emulator, this.#modes.text(), above), cols, rows })
      }),
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

/** The private modes that a terminal needs in common with another one to replace it, and whether each is on by default. */
const followed = new Map([
  [1, false],
  [9, false],
  [25, true],
  [1000, false],
  [1002, false],
  [1003, false],
  [1004, false],
  [1005, false],
  [1006, false],
  [1015, false],
  [1016, false],
  [2004, false],
])

/** The private modes that a program has switched; the emulator itself only reports some of them. */
class PrivateModes {
  #on = new Set<number>()
  #keypad = false

  constructor({ parser }: Emulator) {
    this.#reset()
    parser.registerCsiHandler({ prefix: '?', final: 'h' }, (params) => this.#switch(params, true))
    parser.registerCsiHandler({ prefix: '?', final: 'l' }, (params) => this.#switch(params, false))
    parser.registerCsiHandler({ intermediates: '!', final: 'p' }, () => this.#reset())
    parser.registerEscHandler({ final: 'c' }, () => this.#reset())
    parser.registerEscHandler({ final: '=' }, () => ((this.#keypad = true), false))
    parser.registerEscHandler({ final: '>' }, () => ((this.#keypad = false), false))
  }

  /** The sequences that switch another terminal to these modes. */
  text(): string {
    const each = [...followed.keys()].map((mode) => `\u001b[?${mode}${this.#on.has(mode) ? 'h' : 'l'}`)
    return each.join('') + (this.#keypad ? '\u001b=' : '\u001b>')
  }

  /** Returns false, so that the emulator acts on the sequence too. */
  #switch(params: readonly (number | number[])[], on: boolean): false {
    for (const mode of params) if (typeof mode === 'number' && followed.has(mode)) this.#on[on ? 'add' : 'delete'](mode)
    return false
  }

  #reset(): false {
    this.#on = new Set([...followed].flatMap(([mode, on]) => (on ? [mode] : [])))
    this.#keypad = false
    return false
  }
}

/**
 * The sequences that turn an empty screen into an emulator's present state: the rows above the screen, its modes, its rows, its cursor.
 */
function painted(emulator: Emulator, modes: string, above: number): string {
  const { active, normal } = emulator.buffer
  const gone = Math.min(above, normal.baseY)
  const rows = [
    ...Array.from({ length: gone }, (_, row) => paintedRow(emulator, normal, normal.baseY - gone + row)),
    ...Array.from({ length: emulator.rows }, (_, row) => paintedRow(emulator, active, active.baseY + row)),
  ]
  // Without wrapping, a full row does not push the next one down. Each row is erased before it is drawn: if it was erased afterwards, a
  // full row would lose its last letter.
  const body = `\u001b[0m\u001b[?7l\u001b[H${rows.map((row) => `\u001b[K${row}\u001b[0m`).join('\r\n')}\u001b[?7h`
  return `${body}${modes}\u001b[${active.cursorY + 1};${active.cursorX + 1}H`
}

function paintedRow(emulator: Emulator, buffer: IBuffer, index: number): string {
  const line = buffer.getLine(index)
  if (!line) return ''
  let text = ''
  let style = ''
  let blank = ''
  for (let col = 0; col < emulator.cols; col++) {
    const cell = line.getCell(col)
    // The second half of a wide character.
    if (!cell || cell.getWidth() === 0) continue
    const wanted = styleOf(cell)
    const chars = cell.getChars() || ' '
    if (chars === ' ' && wanted === '' && style === '') {
      blank += ' '
      continue
    }
    text += blank + (wanted === style ? '' : `\u001b[0${wanted}m`) + chars
    blank = ''
    style = wanted
  }
  return text
}

/** The parameters after the reset, each preceded by a semicolon. */
function styleOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return ''
  return [
    cell.isBold() ? ';1' : '',
    cell.isDim() ? ';2' : '',
    cell.isItalic() ? ';3' : '',
    cell.isUnderline() ? ';4' : '',
    cell.isBlink() ? ';5' : '',
    cell.isInverse() ? ';7' : '',
    cell.isInvisible() ? ';8' : '',
    cell.isStrikethrough() ? ';9' : '',
    cell.isOverline() ? ';53' : '',
    colour(38, cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor()),
    colour(48, cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor()),
  ].join('')
}

function colour(code: 38 | 48, rgb: boolean, palette: boolean, value: number): string {
  if (rgb) return `;${code};2;${value >> 16};${(value >> 8) & 255};${value & 255}`
  return palette ? `;${code};5;${value}` : ''
}
