import type { PromptEditor } from './prompt-editor.ts'
import type { ChatDesk } from '../chat-desk.ts'
import type { Focusable } from '@earendil-works/pi-tui'
import type { Choice } from '../widgets.ts'
import type { Theme } from '../theme.ts'
import { cleanText } from './paste.ts'
import { fuzzyMatch, matchesKey } from '@earendil-works/pi-tui'
import { ChoiceList, TextField } from '../widgets.ts'

/** Up and Down through what was sent before: the editor's own history, which learns the past when Up first wants it. */
export class HistoryRecall {
  #sheet: PromptEditor
  #past: PromptHistory
  #longest: number
  #changed: () => void
  #knows: 'nothing' | 'soon' | 'all' = 'nothing'
  /** How many keys there were, and which of them waits for the past to be read. */
  #keys = 0
  #awaited = 0

  /** A text longer than `longest` is passed over. */
  constructor(parts: { sheet: PromptEditor; past: PromptHistory; longest: number; changed(): void }) {
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

/** What was sent before, in this process and in those before it: read when it is first wanted. */
export class PromptHistory {
  #desk: ChatDesk
  #sent: string[] = []
  #before: Promise<string[]> | undefined

  constructor(desk: ChatDesk) {
    this.#desk = desk
  }

  add(text: string): void {
    if (this.#sent.at(-1) !== text) this.#sent.push(text)
  }

  /** Newest last, no text twice in a row; what cannot be read is not there. */
  async texts(): Promise<string[]> {
    const before = await (this.#before ??= this.#desk.sentPrompts().catch(() => []))
    // What was sent here may have been kept before it was read: its place is at the end.
    const own = new Set(this.#sent)
    const all = [...before.map(tidy).filter((text) => !own.has(text)), ...this.#sent]
    return all.filter((text, at) => text !== '' && text !== all[at - 1])
  }
}

const tidy = (text: string) => cleanText(text).replaceAll('\t', '    ').trim()

type Sent = Choice & { text: string }

/** Looks for a text that was sent before; `done` with it, or with nothing. */
export class HistorySearch implements Focusable {
  #theme: Theme
  #texts: readonly Sent[]
  #line: TextField
  #choices: ChoiceList<Sent>
  #done: (text?: string) => void

  /** `texts` are newest last. */
  constructor(parts: { theme: Theme; texts: readonly string[]; done(text?: string): void }) {
    this.#theme = parts.theme
    this.#done = parts.done
    this.#texts = [...new Set([...parts.texts].reverse())].map((text) => ({ text, label: oneLine(text) }))
    this.#line = new TextField()
    this.#choices = new ChoiceList(parts.theme)
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
