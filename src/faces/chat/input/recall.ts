import type { Past } from './past.ts'
import type { Sheet } from './sheet.ts'

/** Up and Down through what was sent before: the editor's own history, which learns the past when Up first wants it. */
export class Recall {
  #sheet: Sheet
  #past: Past
  #longest: number
  #changed: () => void
  #knows: 'nothing' | 'soon' | 'all' = 'nothing'
  /** How many keys there were, and which of them waits for the past to be read. */
  #keys = 0
  #awaited = 0

  /** A text longer than `longest` is passed over. */
  constructor(parts: { sheet: Sheet; past: Past; longest: number; changed(): void }) {
    this.#sheet = parts.sheet
    this.#past = parts.past
    this.#longest = parts.longest
    this.#changed = parts.changed
  }

  /** Every key is told: whoever has gone on does not want what Up asked for any more. */
  pressed(): void {
    this.#keys++
  }

  sent(text: string): void {
    this.#past.add(text)
    if (this.#knows === 'all') this.#remember(text)
  }

  /** The editor moves up; where it has nowhere to go, it recalls. */
  up(key: string): void {
    const before = this.#place()
    this.#sheet.handleInput(key)
    if (this.#knows === 'all' || this.#place() !== before) return
    this.#awaited = this.#keys
    if (this.#knows === 'nothing') void this.#learn(key)
  }

  async #learn(key: string): Promise<void> {
    this.#knows = 'soon'
    const texts = await this.#past.texts()
    this.#knows = 'all'
    for (const text of texts) this.#remember(text)
    if (this.#keys !== this.#awaited) return
    this.#sheet.handleInput(key)
    this.#changed()
  }

  #remember(text: string): void {
    if (text.length <= this.#longest) this.#sheet.addToHistory(text)
  }

  #place(): string {
    const { line, col } = this.#sheet.getCursor()
    return `${line}:${col}:${this.#sheet.getText()}`
  }
}
