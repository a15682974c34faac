import type { Focusable } from '@earendil-works/pi-tui'
import type { ChatDesk } from '../desk/chat-desk.ts'
import type { Theme } from '../style/theme.ts'
import type { Choice } from '../style/widgets.ts'
import type { PromptEditor } from './prompt-editor.ts'
import { fuzzyMatch } from '@earendil-works/pi-tui'
import { actionOf } from '../desk/keys.ts'
import { ChoiceList, TextField } from '../style/widgets.ts'
import { cleanText } from '../../base/text/ansi.ts'
import { withoutPictureLinks } from '../../core/talk/pictures.ts'

/** The prompts that were sent in this process and in earlier ones. Those of earlier processes are read when they are first needed. */
export class PromptHistory {
  #desk: ChatDesk
  #sent: string[] = []
  #earlier: Promise<string[]> | undefined

  constructor(desk: ChatDesk) {
    this.#desk = desk
  }

  add(text: string): void {
    if (this.#sent.at(-1) !== text) this.#sent.push(text)
  }

  /** All prompts, newest last, no two equal ones in a row. Earlier prompts that cannot be read are left out. */
  async texts(): Promise<string[]> {
    const earlier = await (this.#earlier ??= this.#desk.sources.sentPrompts().catch(() => []))
    // A prompt of this process may also be among the earlier ones; its place is at the end.
    const own = new Set(this.#sent)
    const all = [...earlier.map(tidy).filter((text) => !own.has(text)), ...this.#sent]
    return all.filter((text, at) => text !== '' && text !== all[at - 1])
  }
}

const tidy = (text: string) => cleanText(text).replaceAll('\t', '    ').trim()

/** Goes through the history with Up and Down, by the editor's own list, which is filled when Up is first pressed. */
export class HistoryRecall {
  #editor: PromptEditor
  #history: PromptHistory
  #longest: number
  #changed: () => void
  #loaded: 'nothing' | 'soon' | 'all' = 'nothing'
  /** The number of keys pressed so far, and the number of the Up that waits for the history. */
  #keys = 0
  #awaited = 0

  /** A prompt longer than `longest` is left out. */
  constructor(parts: { editor: PromptEditor; history: PromptHistory; longest: number; changed(): void }) {
    this.#editor = parts.editor
    this.#history = parts.history
    this.#longest = parts.longest
    this.#changed = parts.changed
  }

  /** Counts every key: a person who has typed something else no longer wants the result of Up. */
  pressed(): void {
    this.#keys++
  }

  sent(text: string): void {
    this.#history.add(text)
    if (this.#loaded === 'all') this.#remember(text)
  }

  /** Moves the cursor up; from the first line it recalls the previous prompt. */
  up(key: string): void {
    const before = this.#place()
    this.#editor.handleInput(key)
    if (this.#loaded === 'all' || this.#place() !== before) return
    this.#awaited = this.#keys
    // The person may type on while the history is read.
    if (this.#loaded === 'nothing') void this.#load(key)
  }

  async #load(key: string): Promise<void> {
    this.#loaded = 'soon'
    const texts = await this.#history.texts()
    this.#loaded = 'all'
    for (const text of texts) this.#remember(text)
    if (this.#keys !== this.#awaited) return
    this.#editor.handleInput(key)
    this.#changed()
  }

  #remember(text: string): void {
    if (text.length <= this.#longest) this.#editor.addToHistory(text)
  }

  #place(): string {
    const { line, col } = this.#editor.getCursor()
    return `${line}:${col}:${this.#editor.getText()}`
  }
}

type SentPrompt = Choice & { text: string }

/** Searches the history (Ctrl+R); calls `done` with the chosen prompt, or without one. */
export class HistorySearch implements Focusable {
  #theme: Theme
  #prompts: readonly SentPrompt[]
  #field: TextField
  #choices: ChoiceList<SentPrompt>
  #done: (text?: string) => void

  /** `texts` are newest last. */
  constructor(parts: { theme: Theme; texts: readonly string[]; done(text?: string): void }) {
    this.#theme = parts.theme
    this.#done = parts.done
    this.#prompts = [...new Set([...parts.texts].reverse())].map((text) => ({ text, label: labelOf(text) }))
    this.#field = new TextField()
    this.#choices = new ChoiceList(parts.theme)
    this.#choices.set(this.#prompts)
  }

  get focused(): boolean {
    return this.#field.focused
  }

  set focused(focused: boolean) {
    this.#field.focused = focused
  }

  handleInput(data: string): void {
    switch (actionOf('history', data)) {
      case 'close':
        return this.#done()
      case 'take':
        return this.#done(this.#choices.chosen?.text)
      case 'up':
        return this.#choices.move(-1)
      case 'down':
        return this.#choices.move(1)
      default:
        this.#field.handleInput(data)
        this.#search()
    }
  }

  insert(text: string): void {
    this.#field.insert(text)
    this.#search()
  }

  #search(): void {
    this.#choices.set(this.#matching(this.#field.text.trim().toLowerCase()))
  }

  /** Prompts that contain the words come first, newest first; then those with the letters in order. */
  #matching(words: string): SentPrompt[] {
    const containing = this.#prompts.filter(({ label }) => label.toLowerCase().includes(words))
    const near = this.#prompts.filter(
      (prompt) => !containing.includes(prompt) && fuzzyMatch(words, prompt.label).matches,
    )
    return [...containing, ...near]
  }

  render(width: number, most: number): string[] {
    const head = '  sent before: '
    const rows = this.#choices.render(width, most)
    return [
      this.#theme.quiet(head) + this.#field.render(Math.max(1, width - head.length)),
      ...(rows.length > 0 ? rows : [this.#theme.quiet('  nothing matches')]),
    ]
  }
}

/** The beginning of a prompt in one line, enough to recognise it by. */
const labelOf = (text: string) => withoutPictureLinks(text).slice(0, 500).replace(/\s+/g, ' ')
