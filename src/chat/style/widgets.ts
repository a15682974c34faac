import type { Theme, Paint } from './theme.ts'
import type { Focusable } from '@earendil-works/pi-tui'
import { truncateToWidth, visibleWidth, wrapTextWithAnsi, Input } from '@earendil-works/pi-tui'
import { oneLine } from './safe-text.ts'
import { cleanText } from '../../base/text/ansi.ts'

/** A row to choose, with its name and what it does. */
export type Choice = { label: string; help?: string }

const widestLabel = 34
/** A description beside its name has at least this many columns; with fewer it is placed below the name. */
const leastHelp = 24

/**
 * A list in which one row is chosen; the chosen row is always among those that are shown. A description is never cut:
 * it is wrapped, and its row is as many lines high as it needs.
 */
export class ChoiceList<T extends Choice> {
  #theme: Theme
  #items: readonly T[] = []
  #chosen = 0
  #widest = 0
  #from = 0
  /** The position in `#items` of each line that was drawn last. */
  #drawn: number[] = []

  constructor(theme: Theme) {
    this.#theme = theme
  }

  get items(): readonly T[] {
    return this.#items
  }

  get chosen(): T | undefined {
    return this.#items[this.#chosen]
  }

  /** Replaces the rows and chooses the first; `keep` chooses the former row if it still exists. */
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

  /** Moves the choice, wrapping around at each end. */
  move(by: number): void {
    const count = this.#items.length
    if (count > 0) this.#chosen = (this.#chosen + by + count) % count
  }

  /** Chooses the row that was drawn at that line. */
  point(line: number): T | undefined {
    const at = this.#drawn[line]
    if (at !== undefined) this.#chosen = at
    return at === undefined ? undefined : this.#items[at]
  }

  /** Draws whole rows, at most `most` lines of them. */
  render(width: number, most: number): string[] {
    this.#drawn = []
    if (this.#items.length === 0) return []
    const row = (at: number) => this.#row(this.#items[at]!, at === this.#chosen, width)
    this.#from = this.#firstShown(most, (at) => row(at).length)
    const lines: string[] = []
    for (let at = this.#from; at < this.#items.length; at++) {
      const more = row(at)
      // A row that is taller than the whole list is cut, because the rest has no place.
      if (lines.length > 0 && lines.length + more.length > most) break
      lines.push(...more.slice(0, most))
      while (this.#drawn.length < lines.length) this.#drawn.push(at)
    }
    return lines
  }

  /** The position of the chosen row, if not all rows fit. */
  place(): string {
    const shown = new Set(this.#drawn).size
    return this.#items.length > shown ? `${this.#chosen + 1} of ${this.#items.length}` : ''
  }

  /** The first visible row: unchanged if possible, with the chosen row visible and no empty lines at the end. */
  #firstShown(most: number, height: (at: number) => number): number {
    let from = Math.min(this.#from, this.#chosen)
    let room = most
    for (let at = from; at <= this.#chosen; at++) room -= height(at)
    while (room < 0 && from < this.#chosen) room += height(from++)
    for (let at = this.#chosen + 1; at < this.#items.length && room >= 0; at++) room -= height(at)
    while (from > 0 && room - height(from - 1) >= 0) room -= height(--from)
    return from
  }

  #row(item: T, chosen: boolean, width: number): string[] {
    // A name may contain line breaks, and must stay one row.
    const label = oneLine(item.label)
    const help = item.help && oneLine(item.help)
    const { chosen: reversed, quiet } = this.#theme
    const whole = (line: string) => (chosen ? reversed(fitToWidth(line, width)) : fitToWidth(line, width))
    const paint = chosen ? (words: string) => words : quiet
    const mark = chosen ? '› ' : '  '
    // A row without help has the whole line, so that a long path is not cut for an empty column.
    if (!help) return [whole(mark + label)]
    const labels = Math.min(widestLabel, Math.floor(width / 2), this.#widest)
    const beside = width - 4 - labels
    if (beside < leastHelp || visibleWidth(label) > labels)
      return this.#stacked(mark + label, help, width, whole, paint)
    const [first = '', ...others] = wrapTextWithAnsi(help, beside)
    const margin = ' '.repeat(labels + 4)
    return [
      whole(`${mark}${fitToWidth(label, labels)}  ${paint(first)}`),
      ...others.map((line) => whole(margin + paint(line))),
    ]
  }

  #stacked(head: string, help: string, width: number, whole: Paint, paint: Paint): string[] {
    const lines = wrapTextWithAnsi(help, Math.max(1, width - 4))
    return [whole(head), ...lines.map((line) => whole(`    ${paint(line)}`))]
  }
}

/** The columns before the text below a rule; only rules and the marks of the transcript begin in the first column. */
export const inset = 1

/** The width of the text below a rule. */
export const insideOf = (width: number): number => Math.max(1, width - inset)

/** A rule of exactly `width` columns, with words in it if there are any. */
export function rule(width: number, paint: Paint, words = ''): string {
  if (visibleWidth(words) === 0 || width <= 10) return paint('─'.repeat(width))
  const title = truncateToWidth(words, width - 6, '…')
  return `${paint('──')} ${title} ${paint('─'.repeat(width - 4 - visibleWidth(title)))}`
}

/** Lines of exactly `width` columns below a titled rule, and below them the hints of `foot`. */
export function ruled(
  lines: readonly string[],
  width: number,
  paint: Paint,
  { title, foot }: { title?: string; foot?: string } = {},
): string[] {
  return [rule(width, paint, title), ...insetLines([...lines, ...(foot === undefined ? [] : [foot])], width)]
}

/** Lines filled to `width` columns, each with the inset. */
export function insetLines(lines: readonly string[], width: number): string[] {
  return lines.map((line) => ' '.repeat(inset) + fitToWidth(line, insideOf(width)))
}

/** A line cut or filled to exactly that width. */
export function fitToWidth(line: string, width: number): string {
  const cut = truncateToWidth(line, width, '…')
  return cut + ' '.repeat(Math.max(0, width - visibleWidth(cut)))
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

  /** Handles a key. C1 control characters are dropped: they begin escape sequences, and no keyboard sends them. */
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
