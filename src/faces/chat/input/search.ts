import type { Focusable } from '@earendil-works/pi-tui'
import type { Choice } from '../palette/choices.ts'
import type { Theme } from '../theme/theme.ts'
import { fuzzyMatch, matchesKey } from '@earendil-works/pi-tui'
import { Choices } from '../palette/choices.ts'
import { Line } from '../palette/line.ts'

type Sent = Choice & { text: string }

/** Looks for a text that was sent before; `done` with it, or with nothing. */
export class Search implements Focusable {
  #theme: Theme
  #texts: readonly Sent[]
  #line: Line
  #choices: Choices<Sent>
  #done: (text?: string) => void

  /** `texts` are newest last. */
  constructor(parts: { theme: Theme; texts: readonly string[]; done(text?: string): void }) {
    this.#theme = parts.theme
    this.#done = parts.done
    this.#texts = [...new Set([...parts.texts].reverse())].map((text) => ({ text, label: oneLine(text) }))
    this.#line = new Line()
    this.#choices = new Choices(parts.theme)
    this.#choices.set(this.#texts)
  }

  get focused(): boolean {
    return this.#line.focused
  }

  set focused(focused: boolean) {
    this.#line.focused = focused
  }

  handleInput(data: string): void {
    if (matchesKey(data, 'escape') || matchesKey(data, 'ctrl+c')) return this.#done()
    if (matchesKey(data, 'enter') || matchesKey(data, 'tab')) return this.#done(this.#choices.chosen?.text)
    if (matchesKey(data, 'up')) return this.#choices.move(-1)
    if (matchesKey(data, 'down') || matchesKey(data, 'ctrl+r')) return this.#choices.move(1)
    this.#line.handleInput(data)
    this.#find()
  }

  insert(text: string): void {
    this.#line.insert(text)
    this.#find()
  }

  #find(): void {
    this.#choices.set(this.#found(this.#line.text.trim().toLowerCase()))
  }

  /** What holds the words as they are comes first, the newest in front; then what has their letters in order. */
  #found(words: string): Sent[] {
    const holds = this.#texts.filter(({ label }) => label.toLowerCase().includes(words))
    const near = this.#texts.filter((sent) => !holds.includes(sent) && fuzzyMatch(words, sent.label).matches)
    return [...holds, ...near]
  }

  render(width: number, most: number): string[] {
    const head = '  sent before: '
    const rows = this.#choices.render(width, most)
    return [
      this.#theme.quiet(head) + this.#line.render(Math.max(1, width - head.length)),
      ...(rows.length > 0 ? rows : [this.#theme.quiet('  nothing like that')]),
    ]
  }
}

/** As much of it as a person could know it by. */
const oneLine = (text: string) => text.slice(0, 500).replace(/\s+/g, ' ')
