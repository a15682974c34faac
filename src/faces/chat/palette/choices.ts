import type { Theme } from '../theme/theme.ts'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { oneLine } from '../transcript/text.ts'
import { fitted } from './box.ts'

/** A row to choose: `label` is what it is called, `help` what it does. */
export type Choice = { label: string; help?: string }

const widestLabel = 34

/** A list of which one row is chosen; it shows as many rows as it is told, and the chosen one is always among them. */
export class Choices<T extends Choice> {
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

  /** The first row is chosen, or the one that was, where it is still among them and `keep` asks for it. */
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

  /** Goes round at both ends. */
  move(by: number): void {
    const count = this.#items.length
    if (count > 0) this.#chosen = (this.#chosen + by + count) % count
  }

  /** Chooses the row that was shown there. */
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

  /** Where it stands in a list that is longer than what is shown. */
  place(most: number): string {
    return this.#items.length > most ? `${this.#chosen + 1} of ${this.#items.length}` : ''
  }

  #row(item: T, chosen: boolean, labels: number, width: number): string {
    // A name may hold anything: it is one row all the same.
    const label = oneLine(item.label)
    const help = item.help && oneLine(item.help)
    const { chosen: paint, quiet } = this.#theme
    const mark = chosen ? '› ' : '  '
    const room = width - 2
    // A row without help has the whole line: a long path is not cut for a column that is empty.
    if (!help || room - labels < 12) return chosen ? paint(fitted(mark + label, width)) : fitted(mark + label, width)
    const name = `${fitted(label, labels)}  `
    const words = truncateToWidth(help, room - labels - 2, '…')
    return chosen ? paint(fitted(mark + name + words, width)) : fitted(mark + name + quiet(words), width)
  }
}
