import type { Component, Focusable, TUI, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { Clock } from '../../../base/clock.ts'
import type { ChatDesk } from '../chat-desk.ts'
import type { Theme } from '../theme.ts'
import { CURSOR_MARKER, matchesKey, truncateToWidth } from '@earendil-works/pi-tui'
import { boxSides, boxed, fitToWidth } from '../widgets.ts'
import { commandName, Completer, CompletionPopup } from './completion.ts'
import { PromptHistory, HistoryRecall, HistorySearch } from './prompt-history.ts'
import { PasteReader, cleanText } from './paste.ts'
import { PromptEditor } from './prompt-editor.ts'

export type InputParts = {
  tui: TUI
  theme: Theme
  desk: ChatDesk
  clock: Clock
  onSubmit(text: string): void
  /** The text stays in the input until something is picked. */
  openPalette(query: string): void
  /** Hands the text to the person's own editor; undefined when it was left without saving. */
  edit(text: string): Promise<string | undefined>
}

const placeholder = 'Ask anything · / for commands · @ for files'
/** A paste of more than this is shown as a chip. */
const mostLines = 10
const mostChars = 1000
/** A longer text is not laid out at each key: it is filled in as a chip, and Up goes past it. */
const longest = 20_000

/** Where a person types: above it what waits, and what may be meant by the word that is being typed. */
export class InputBox implements Component, Focusable {
  #parts: InputParts
  #sheet: PromptEditor
  #popup: CompletionPopup
  #completion: Completer
  #past: PromptHistory
  #recall: HistoryRecall
  #pastes: PasteReader
  #search: HistorySearch | undefined
  #queue: readonly string[] = []
  #focused = false
  #editing = false
  /** Rows above the box when it was last drawn, and how many of them are the queue's. */
  #drawn = { above: 0, queue: 0 }

  constructor(parts: InputParts) {
    this.#parts = parts
    const changed = () => parts.tui.requestRender()
    this.#sheet = new PromptEditor(parts.tui)
    this.#popup = new CompletionPopup({ ...parts, changed })
    this.#completion = new Completer(this.#sheet, this.#popup, parts.desk)
    this.#past = new PromptHistory(parts.desk)
    this.#recall = new HistoryRecall({ sheet: this.#sheet, past: this.#past, longest, changed })
    this.#pastes = new PasteReader(parts.clock)
  }

  get focused(): boolean {
    return this.#focused
  }

  set focused(focused: boolean) {
    this.#focused = focused
    this.#sheet.focused = focused && !this.#search
    if (this.#search) this.#search.focused = focused
  }

  setQueue(texts: readonly string[]): void {
    this.#queue = texts
  }

  fill(text: string): void {
    this.#popup.close()
    const words = cleanText(text)
    this.#sheet.setText(words.length > longest ? '' : words)
    if (words.length > longest) this.#sheet.fold(words)
  }

  /** As it would be sent. */
  text(): string {
    return this.#sheet.whole()
  }

  /** Whether there was anything to clear. */
  clear(): boolean {
    const had = this.#sheet.getText() !== '' || this.#search !== undefined
    this.closePopup()
    this.#sheet.setText('')
    return had
  }

  popupOpen(): boolean {
    return this.#popup.open || this.#search !== undefined
  }

  closePopup(): void {
    this.#popup.dismiss()
    this.#searched()
  }

  invalidate(): void {
    this.#sheet.invalidate()
  }

  handleInput(data: string): void {
    this.#recall.pressed()
    for (const { type, text } of this.#pastes.read(data)) {
      const search = this.#search
      if (type === 'key') search ? search.handleInput(text) : this.#key(text)
      else search ? search.insert(text) : this.#put(text)
    }
  }

  /** A text that came as a whole: nothing in it is a key. */
  #put(text: string): void {
    this.#popup.close()
    if (text.length > mostChars || text.split('\n').length > mostLines) this.#sheet.fold(text)
    else this.#sheet.insertTextAtCursor(text)
  }

  #key(key: string): void {
    if (newLine(key)) return this.#edited('\n')
    const taken = this.#popup.open ? this.#completion.take(key) : undefined
    if (taken === 'send') return this.#enter()
    if (taken || matchesKey(key, 'escape')) return
    if (matchesKey(key, 'enter')) return this.#enter()
    if (matchesKey(key, 'tab')) return this.#completion.follow(true)
    if (matchesKey(key, 'up')) return this.#up(key)
    if (matchesKey(key, 'ctrl+g')) return void this.#editElsewhere()
    if (matchesKey(key, 'ctrl+r')) return void this.#openSearch()
    if (matchesKey(key, 'ctrl+k') || matchesKey(key, 'f1')) return this.#parts.openPalette('')
    // As bytes these begin escape sequences: no keyboard sends them.
    if (!/[\x80-\x9f]/.test(key)) this.#edited(key)
  }

  /** A key for the editor; the popup follows what it wrote, and is not opened by a move. */
  #edited(key: string): void {
    const before = this.#sheet.getText()
    this.#sheet.handleInput(key)
    if (this.#sheet.getText() !== before || this.#popup.open) this.#completion.follow()
  }

  #enter(): void {
    const { line, col } = this.#sheet.getCursor()
    if (this.#sheet.getLines()[line]![col - 1] === '\\') return this.#edited('\r')
    const text = this.#sheet.whole().trim()
    if (text === '') return
    this.#popup.close()
    const command = commandName(text)
    if (command !== undefined && !this.#parts.desk.commands.some(({ name }) => name === command))
      return this.#parts.openPalette(command)
    this.#sheet.blank()
    this.#recall.sent(text)
    this.#parts.onSubmit(text)
  }

  /** What waits is taken back before what was sent is recalled. */
  #up(key: string): void {
    const empty = this.#sheet.getText() === ''
    const waiting = empty && this.#queue.length > 0 ? this.#parts.desk.takeBack() : undefined
    if (waiting !== undefined) return this.fill(waiting)
    this.#recall.up(key)
  }

  async #editElsewhere(): Promise<void> {
    if (this.#editing) return
    this.#editing = true
    const text = await this.#parts.edit(this.#sheet.whole()).catch(() => undefined)
    this.#editing = false
    if (text !== undefined) this.fill(text.replace(/\n$/, ''))
    this.#parts.tui.requestRender()
  }

  async #openSearch(): Promise<void> {
    const texts = await this.#past.texts()
    this.#search = new HistorySearch({ theme: this.#parts.theme, texts, done: (text) => this.#searched(text) })
    this.focused = this.#focused
    this.#parts.tui.requestRender()
  }

  #searched(text?: string): void {
    this.#search = undefined
    this.focused = this.#focused
    if (text !== undefined) this.fill(text)
  }

  render(width: number): string[] {
    const { theme, tui } = this.#parts
    const most = Math.max(3, Math.min(8, Math.floor(tui.terminal.rows / 3)))
    const queue = queueLines(this.#queue, width, theme)
    const popup = this.#search ? this.#search.render(width, most) : this.#popup.render(width, most)
    this.#drawn = { above: queue.length + popup.length, queue: queue.length }
    const rows = this.#rows(Math.max(1, width - boxSides))
    const { above, below } = this.#sheet
    const title = above > 0 ? `↑ ${above} more` : this.#popup.place(most)
    const foot = below > 0 ? `↓ ${below} more` : ''
    return [
      ...queue,
      ...popup,
      ...boxed(rows, width, theme.accent, { title: theme.quiet(title), foot: theme.quiet(foot) }),
    ]
  }

  #rows(width: number): string[] {
    const rows = this.#sheet.rows(width)
    if (this.#sheet.getText() === '') return [this.#hint(width)]
    // A cursor where no key goes would be a lie.
    return this.#sheet.focused ? rows : rows.map((row) => row.replace(/\x1b\[7m(.*?)\x1b\[0m/, '$1'))
  }

  #hint(width: number): string {
    const words = fitToWidth(placeholder, width)
    if (!this.#sheet.focused) return this.#parts.theme.quiet(words)
    return `${CURSOR_MARKER}\x1b[7m${words[0]}\x1b[27m${this.#parts.theme.quiet(words.slice(1))}`
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    const { above, queue } = this.#drawn
    if (event.y >= above) {
      const inside = { ...event, x: event.x - boxSides / 2, y: event.y - above, width: event.width - boxSides }
      return this.#sheet.handleMouse(inside)
    }
    if (event.type !== 'click' || event.button !== 'left' || this.#search || event.y < queue) return undefined
    if (this.#popup.point(event.y - queue)) this.#completion.accept()
    return { handled: true, focus: true }
  }
}

const newLines = ['shift+enter', 'ctrl+j', 'alt+enter'] as const

/** Terminals without a protocol send Alt+Enter as Escape and Return, and Ctrl+J as a line feed. */
function newLine(key: string): boolean {
  return key === '\n' || key === '\x1b\r' || newLines.some((id) => matchesKey(key, id))
}

const most = 3

/** What was typed while a turn runs, oldest first, a line for each; the newest can be taken back. */
export function queueLines(texts: readonly string[], width: number, theme: Theme): string[] {
  const hidden = Math.max(0, texts.length - most)
  const lines = texts.slice(hidden).map((text, at, shown) => {
    const words = cleanText(text).replace(/\s+/g, ' ')
    const hint = at === shown.length - 1 ? '  (Up takes it back)' : ''
    const room = width - hint.length
    return room > 30 ? truncateToWidth(` ↳ waiting: ${words}`, room, '…') + hint : ` ↳ waiting: ${words}`
  })
  const all = hidden > 0 ? [` ↳ ${hidden} more waiting`, ...lines] : lines
  return all.map((line) => theme.quiet(truncateToWidth(line, width, '…')))
}
