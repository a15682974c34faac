import type { Component, Focusable, TUI, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { Clock } from '../../base/time/clock.ts'
import type { ChatDesk } from '../desk/chat-desk.ts'
import type { Theme } from '../style/theme.ts'
import type { Pasted } from './clipboard.ts'
import type { InputPiece } from './paste.ts'
import { CURSOR_MARKER, truncateToWidth } from '@earendil-works/pi-tui'
import { actionOf } from '../desk/keys.ts'
import { fitToWidth, inset, insideOf, ruled } from '../style/widgets.ts'
import { commandName, Completer, CompletionPopup } from './prompt-completion.ts'
import { PromptHistory, HistoryRecall, HistorySearch } from './prompt-history.ts'
import { cleanText } from '../../base/text/ansi.ts'
import { messageOf } from '../../base/error-message.ts'
import { PasteReader } from './paste.ts'
import { pastedPaths } from './pasted-paths.ts'
import { PromptEditor } from './prompt-editor.ts'
import { VimInput } from './vim-input.ts'

type InputParts = {
  tui: TUI
  theme: Theme
  desk: ChatDesk
  clock: Clock
  onSubmit(text: string): void
  /** Opens the palette; the text stays in the input until a command is picked. */
  openPalette(query: string): void
  /** Shows every key and what it does. */
  showKeys(): void
  /** Reads the clipboard. */
  clipboard(): Promise<Pasted>
  /** Shows a message that is not kept. */
  say(words: string): void
  /** Whether Windows paths are translated to the paths that WSL mounts them at. */
  wsl: boolean
  /** Hands the text to the person's own editor; undefined when it was left without saving. */
  edit(text: string): Promise<string | undefined>
}

const placeholder = 'Ask anything · / commands · @ files · ! shell · ? keys'
/** The rows that the rule takes, and the rows that suggestions need above it. */
const ruleRows = 1
const leastList = 2
/** Goes before the text if there is no space for the rule. */
const bareMark = '› '
/** A longer text is not laid out at each key: it is inserted as a chip, and Up skips it. */
const longest = 20_000

/** The input of the chat, with the queued prompts and the suggestions above it. */
export class InputBox implements Component, Focusable {
  #parts: InputParts
  #editor: PromptEditor
  #popup: CompletionPopup
  #completer: Completer
  #history: PromptHistory
  #recall: HistoryRecall
  #pastes: PasteReader
  #search: HistorySearch | undefined
  /** The keys of vim, if the person uses them. */
  #vim: VimInput | undefined
  #queue: readonly string[] = []
  #focused = false
  #editing = false
  /** The number of chips that are being read, and the text typed after an Enter that waits for them. */
  #reading = 0
  #sends: InputPiece[] | undefined
  /** The rows above the rule when the input was last drawn, and how many of them are the queue. */
  #drawn = { above: 0, queue: 0 }

  constructor(parts: InputParts) {
    this.#parts = parts
    const changed = () => parts.tui.requestRender()
    this.#editor = new PromptEditor(parts.tui)
    this.#popup = new CompletionPopup({ ...parts, changed })
    this.#completer = new Completer(this.#editor, this.#popup, parts.desk)
    this.#history = new PromptHistory(parts.desk)
    this.#recall = new HistoryRecall({ editor: this.#editor, history: this.#history, longest, changed })
    this.#pastes = new PasteReader(parts.clock)
  }

  get focused(): boolean {
    return this.#focused
  }

  set focused(focused: boolean) {
    this.#focused = focused
    this.#editor.focused = focused && !this.#search
    if (this.#search) this.#search.focused = focused
  }

  /** Updates open suggestions, because the commands or resources have changed. */
  completeAgain(): void {
    if (this.#popup.target) this.#completer.follow()
  }

  setQueue(texts: readonly string[]): void {
    this.#queue = texts
  }

  fill(text: string): void {
    this.#popup.close()
    const words = cleanText(text)
    this.#editor.setText(words.length > longest ? '' : words)
    if (words.length > longest) this.#editor.fold(words)
    this.#tellDesk()
  }

  /** The text as it would be sent. */
  text(): string {
    return this.#editor.whole()
  }

  /** Whether nothing is typed and no search for an earlier prompt is open. */
  get isEmpty(): boolean {
    return this.#editor.getText() === '' && this.#search === undefined
  }

  /** Turns the keys of vim on or off; they begin in insert mode. */
  setVim(on: boolean): void {
    if (on !== (this.#vim !== undefined)) this.#vim = on ? new VimInput(this.#editor) : undefined
  }

  /** The mode of vim as the status line shows it; undefined without vim. */
  get vimMode(): string | undefined {
    return this.#vim?.words
  }

  /** Goes to vim's normal mode, or forgets a command that was only begun there. Returns whether Esc did one of both. */
  leaveInsert(): boolean {
    return this.#search === undefined && (this.#vim?.escape() ?? false)
  }

  /** Empties the input; false when it was empty. */
  clear(): boolean {
    const had = !this.isEmpty
    this.closePopup()
    this.#editor.setText('')
    this.#tellDesk()
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
    this.#editor.invalidate()
  }

  handleInput(data: string): void {
    this.#recall.pressed()
    for (const piece of this.#pastes.read(data)) this.#take(piece)
    this.#tellDesk()
  }

  #tellDesk(): void {
    this.#parts.desk.typed?.(this.#editor.getText())
  }

  #take({ type, text }: InputPiece): void {
    // Text that is typed after an Enter that waits for a picture belongs to the next prompt.
    if (this.#sends) {
      this.#sends.push({ type, text })
      return
    }
    const search = this.#search
    if (type === 'key') search ? search.handleInput(text) : this.#key(text)
    else if (search) search.insert(text)
    else if (type === 'paste') this.#paste(text)
    else this.#put(text)
  }

  /** Inserts a text that arrived as a whole; nothing in it is treated as a key. */
  #put(text: string): void {
    this.#popup.close()
    this.#editor.paste(text)
  }

  /** Inserts a paste; the paths of pictures in it become pictures. */
  #paste(text: string): void {
    const readings = pastedPaths(text, this.#parts)
    if (!readings) return this.#put(text)
    this.#popup.close()
    void this.#read(text, async () => this.#pictures(text, readings))
  }

  /** Pastes what is on the clipboard. */
  #pasteClipboard(): void {
    this.#popup.close()
    const { clipboard, desk, say } = this.#parts
    void this.#read('', async () => {
      const found = await clipboard()
      if ('why' in found) {
        say(found.why)
        return []
      }
      if ('text' in found) {
        const text = cleanText(found.text)
        const readings = pastedPaths(text, this.#parts)
        return readings ? this.#pictures(text, readings) : [text]
      }
      const kept = await desk.sources.keepPicture(found.picture, 'clipboard')
      if (!kept) say('The clipboard holds a picture that is not a PNG, JPEG, GIF or WebP.')
      for (const problem of kept?.problems ?? []) say(problem)
      return kept?.texts ?? []
    })
  }

  async #pictures(text: string, readings: readonly (readonly string[])[]): Promise<readonly string[]> {
    const kept = await this.#parts.desk.sources.keepPastedPaths(readings)
    for (const problem of kept?.problems ?? []) this.#parts.say(problem)
    return kept?.texts ?? [text]
  }

  /**
   * Shows a chip until `work` has read the content that replaces it. If the person presses Enter meanwhile, the prompt is sent
   * afterwards.
   */
  async #read(text: string, work: () => Promise<readonly string[]>): Promise<void> {
    const key = this.#editor.wait(text)
    this.#reading++
    const texts = await work().catch((error) => {
      this.#parts.say(`This could not be pasted: ${messageOf(error)}`)
      return [text]
    })
    this.#reading--
    this.#editor.settle(
      key,
      texts.filter((one) => one !== ''),
    )
    if (this.#reading === 0 && this.#sends) {
      const typed = this.#sends
      this.#sends = undefined
      this.#enter()
      for (const piece of typed) this.#take(piece)
    }
    this.#parts.tui.requestRender()
  }

  #key(key: string): void {
    if (!this.#popup.open && this.#vim?.takes(key)) {
      if (this.#editor.getText() === '') this.#completer.follow()
      return
    }
    const action = actionOf('input', key)
    if (action === 'newLine') return this.#edited('\n')
    const taken = this.#popup.open ? this.#completer.take(key) : undefined
    if (taken === 'send') return this.#enter()
    if (taken || actionOf('screen', key) === 'escape') return
    switch (action) {
      case 'send':
        return this.#enter()
      case 'complete':
        return this.#completer.follow(true)
      case 'up':
        return this.#up(key)
      case 'paste':
        return this.#pasteClipboard()
      case 'edit':
        // The chat continues while the editor is open.
        void this.#editElsewhere()
        return
      case 'search':
        // Prompts that cannot be read are left out.
        void this.#openSearch()
        return
      case 'keys':
        return this.#editor.getText() === '' ? this.#parts.showKeys() : this.#edited(key)
      default:
        // C1 control characters begin escape sequences, and no keyboard sends them.
        if (!/[\x80-\x9f]/.test(key)) this.#edited(key)
    }
  }

  /** Hands a key to the editor; the popup follows an edit, and is not opened by a move of the cursor. */
  #edited(key: string): void {
    const before = this.#editor.getText()
    this.#editor.handleInput(key)
    if (this.#editor.getText() !== before || this.#popup.open) this.#completer.follow()
  }

  #enter(): void {
    if (this.#reading > 0) {
      this.#sends ??= []
      return
    }
    const { line, col } = this.#editor.getCursor()
    if (this.#editor.getLines()[line]![col - 1] === '\\') return this.#edited('\r')
    const text = this.#editor.whole().trim()
    if (text === '') return
    this.#popup.close()
    const command = commandName(text)
    // A prompt of an MCP server may be known to the desk before it is in the list.
    const isServed = command?.includes(':') === true
    if (command !== undefined && !isServed && !this.#parts.desk.commands.some(({ name }) => name === command))
      return this.#parts.openPalette(command)
    this.#editor.reset()
    this.#vim?.begin()
    this.#recall.sent(text)
    this.#parts.onSubmit(text)
  }

  /** Takes a queued prompt back, or recalls one that was sent. */
  #up(key: string): void {
    const empty = this.#editor.getText() === ''
    const waiting = empty && this.#queue.length > 0 ? this.#parts.desk.takeBack() : undefined
    if (waiting !== undefined) return this.fill(waiting)
    this.#recall.up(key)
  }

  async #editElsewhere(): Promise<void> {
    if (this.#editing) return
    this.#editing = true
    const text = await this.#parts.edit(this.#editor.whole()).catch(() => undefined)
    this.#editing = false
    if (text !== undefined) this.fill(text.replace(/\n$/, ''))
    this.#parts.tui.requestRender()
  }

  async #openSearch(): Promise<void> {
    const texts = await this.#history.texts()
    this.#search = new HistorySearch({ theme: this.#parts.theme, texts, done: (text) => this.#searched(text) })
    this.focused = this.#focused
    this.#parts.tui.requestRender()
  }

  #searched(text?: string): void {
    this.#search = undefined
    this.focused = this.#focused
    if (text !== undefined) this.fill(text)
  }

  /** Draws at most `most` rows. If they are few, the typed text has priority, then the suggestions, then the queue. */
  render(width: number, most = Infinity): string[] {
    const { theme, tui } = this.#parts
    const rows = this.#rows(insideOf(width))
    const left = most - rows.length - ruleRows
    if (left < (this.popupOpen() ? leastList : 0)) return this.#bare(width, most)
    const popup = this.#list(width, Math.min(left, Math.max(3, Math.min(8, Math.floor(tui.terminal.rows / 3)))))
    const waiting = queueLines(this.#queue, width, theme)
    const queue = waiting.length + popup.length <= left ? waiting : []
    this.#drawn = { above: queue.length + popup.length, queue: queue.length }
    const { above, below } = this.#editor
    const more = [...(above > 0 ? [`↑ ${above} more`] : []), ...(below > 0 ? [`↓ ${below} more`] : [])]
    const title = more.length > 0 ? more.join(' · ') : this.#popup.place()
    return [...queue, ...popup, ...ruled(rows, width, theme.accent, { title: theme.quiet(title) })]
  }

  /** The suggestions, or the search in the history. */
  #list(width: number, most: number): string[] {
    if (most < 1) return []
    return this.#search ? this.#search.render(width, most).slice(0, most) : this.#popup.render(width, most)
  }

  /** The text without a rule, for a screen with hardly any space: the row of the cursor, with the chosen suggestion above it. */
  #bare(width: number, most: number): string[] {
    const list = this.#list(width, 1)
    const inside = Math.max(1, width - bareMark.length)
    const rows = this.#rows(inside)
    const cursor = Math.max(0, this.#editor.cursorRow(inside))
    const room = Math.max(1, most - list.length)
    const from = Math.max(0, Math.min(cursor, rows.length - room))
    this.#drawn = { above: list.length, queue: 0 }
    return [...list, ...rows.slice(from, from + room).map((row) => this.#parts.theme.accent(bareMark) + row)]
  }

  #rows(width: number): string[] {
    const rows = this.#editor.rows(width)
    if (this.#editor.getText() === '') return [this.#hint(width)]
    // Without the focus there is no cursor.
    return this.#editor.focused ? rows : rows.map((row) => row.replace(/\x1b\[7m(.*?)\x1b\[0m/, '$1'))
  }

  #hint(width: number): string {
    const words = fitToWidth(placeholder, width)
    if (!this.#editor.focused) return this.#parts.theme.quiet(words)
    return `${CURSOR_MARKER}\x1b[7m${words[0]}\x1b[27m${this.#parts.theme.quiet(words.slice(1))}`
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    const { above, queue } = this.#drawn
    if (event.y >= above) {
      const inside = { ...event, x: event.x - inset, y: event.y - above, width: insideOf(event.width) }
      return this.#editor.handleMouse(inside)
    }
    if (event.type !== 'click' || event.button !== 'left' || this.#search || event.y < queue) return undefined
    if (this.#popup.point(event.y - queue)) this.#completer.accept()
    return { handled: true, focus: true }
  }
}

const mostQueued = 3

/** The queued prompts, oldest first, one line each. Up takes the newest back. */
function queueLines(texts: readonly string[], width: number, theme: Theme): string[] {
  const hidden = Math.max(0, texts.length - mostQueued)
  const lines = texts.slice(hidden).map((text, at, shown) => {
    const words = cleanText(text).replace(/\s+/g, ' ')
    const hint = at === shown.length - 1 ? '  (Up takes it back)' : ''
    const room = width - hint.length
    return room > 30 ? truncateToWidth(` ↳ waiting: ${words}`, room, '…') + hint : ` ↳ waiting: ${words}`
  })
  const all = hidden > 0 ? [` ↳ ${hidden} more waiting`, ...lines] : lines
  return all.map((line) => theme.quiet(truncateToWidth(line, width, '…')))
}
