import type { Theme, Paint } from './theme.ts'
import type { Focusable } from '@earendil-works/pi-tui'
import { truncateToWidth, visibleWidth, Input } from '@earendil-works/pi-tui'
import { oneLine } from './transcript/screen-text.ts'
import { cleanText } from '../../base/ansi.ts'

/** A row to choose, with its name and what it does. */
export type Choice = { label: string; help?: string }

const widestLabel = 34

/** A list in which one row is chosen; the chosen row is always among those that are shown. */
export class ChoiceList<T extends Choice> {
  #theme: Theme
  #items: readonly T[] = []
  #chosen = 0
  #widest = 0
  #from = 0

  constructor(theme: Theme) {
    this.#theme = theme
  }

  get items(): readonly T[] {
    return this.#items
  }

  get chosen(): T | undefined {
    return this.#items[this.#chosen]
  }

  /** Replaces the rows and chooses the first; `keep` chooses the former row where it is still there. */
  set(items: readonly T[], keep = false): void {
    const was = this.chosen?.label
    this.#items = items
    this.#widest = items.reduce((widest, { label, help }) => (help ? Math.max(widest, visibleWidth(label)) : widest), 0)
    this.#chosen = keep
      ? Math.max(
          0,
          items.findIndex(({ label }) => label === was),
        )
      : 0
  }

  /** Moves the choice, past each end to the other. */
  move(by: number): void {
    const count = this.#items.length
    if (count > 0) this.#chosen = (this.#chosen + by + count) % count
  }

  /** Chooses the row that was drawn at that line. */
  point(row: number): T | undefined {
    const item = this.#items[this.#from + row]
    if (item) this.#chosen = this.#from + row
    return item
  }

  render(width: number, most: number): string[] {
    const count = this.#items.length
    this.#from = Math.max(0, Math.min(this.#from, this.#chosen, count - most))
    this.#from = Math.max(this.#from, this.#chosen - most + 1)
    const shown = this.#items.slice(this.#from, this.#from + most)
    const labels = Math.min(widestLabel, Math.floor(width / 2), this.#widest)
    return shown.map((item, row) => this.#row(item, this.#from + row === this.#chosen, labels, width))
  }

  /** The position of the chosen row, where not all rows are shown. */
  place(most: number): string {
    return this.#items.length > most ? `${this.#chosen + 1} of ${this.#items.length}` : ''
  }

  #row(item: T, chosen: boolean, labels: number, width: number): string {
    // A name may hold line breaks, and must stay one row.
    const label = oneLine(item.label)
    const help = item.help && oneLine(item.help)
    const { chosen: paint, quiet } = this.#theme
    const mark = chosen ? '› ' : '  '
    const room = width - 2
    // A row without help has the whole line, so that a long path is not cut for an empty column.
    if (!help || room - labels < 12)
      return chosen ? paint(fitToWidth(mark + label, width)) : fitToWidth(mark + label, width)
    const name = `${fitToWidth(label, labels)}  `
    const words = truncateToWidth(help, room - labels - 2, '…')
    return chosen ? paint(fitToWidth(mark + name + words, width)) : fitToWidth(mark + name + quiet(words), width)
  }
}

/** The columns that a box takes for its sides. */
export const boxSides = 4

/** Lines in a frame of exactly `width` columns; `title` and `foot` sit in its upper and lower edge. */
export function boxed(
  lines: readonly string[],
  width: number,
  paint: Paint,
  words: { title?: string; foot?: string } = {},
): string[] {
  const inside = Math.max(1, width - boxSides)
  return [
    edge('╭', '╮', width, paint, words.title),
    ...lines.map((line) => `${paint('│')} ${fitToWidth(line, inside)} ${paint('│')}`),
    edge('╰', '╯', width, paint, words.foot),
  ]
}

/** A line cut or filled to exactly that width. */
export function fitToWidth(line: string, width: number): string {
  const cut = truncateToWidth(line, width, '…')
  return cut + ' '.repeat(Math.max(0, width - visibleWidth(cut)))
}

function edge(left: string, right: string, width: number, paint: Paint, words = ''): string {
  const label = visibleWidth(words) > 0 && width > 10 ? ` ${truncateToWidth(words, width - 6, '…')} ` : ''
  const rest = Math.max(0, width - 3 - visibleWidth(label))
  return `${paint(`${left}─`)}${label}${paint(`${'─'.repeat(rest)}${right}`)}`
}

/** One line to type in; a secret line shows only how much was typed. */
export class TextField implements Focusable {
  #input: Input
  #secret: boolean

  constructor(parts: { placeholder?: string; text?: string; secret?: boolean } = {}) {
    this.#secret = parts.secret ?? false
    this.#input = new Input({ prompt: '', placeholder: parts.placeholder ?? '' })
    this.insert(parts.text ?? '')
  }

  get focused(): boolean {
    return this.#input.focused
  }

  set focused(focused: boolean) {
    this.#input.focused = focused
  }

  get text(): string {
    return this.#input.getValue()
  }

  /** Takes a key. C1 control characters are left out: they begin escape sequences, and no keyboard sends them. */
  handleInput(key: string): void {
    if (!/[\x80-\x9f]/.test(key)) this.#input.handleInput(key)
  }

  /** Inserts a text at the cursor, as a paste, because the library has no other way. */
  insert(text: string): void {
    const words = cleanText(text).replace(/\s+/g, ' ')
    if (words) this.#input.handleInput(`\x1b[200~${words}\x1b[201~`)
  }

  render(width: number): string {
    if (this.#secret && this.text !== '') return '•'.repeat(Math.min([...this.text].length, width))
    return this.#input.render(width)[0] ?? ''
  }
}
