import type { Component, Focusable, TUI, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { ListRow, ListTalk, ListView } from '../core/talk/command.ts'
import type { ScreenMargin } from './screen/overlay.ts'
import type { Theme } from './style/theme.ts'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { messageOf } from '../base/error-message.ts'
import { actionOf, chatKeys, keyNames } from './desk/keys.ts'
import { PasteReader } from './input/paste.ts'
import { aboveInput, Overlay } from './screen/overlay.ts'
import { oneLine, safeText } from './style/safe-text.ts'
import { listed, wrapped } from './style/screen-text.ts'
import { fitToWidth, insideOf, ruled, TextField } from './style/widgets.ts'

type PanelParts = {
  theme: Theme
  view: ListView
  /** How many lines the panel may take, its rule and its last line included. */
  lines(): number
  repaint(): void
  close(): void
}

/** A question of the panel while an action runs. */
type Asking =
  | { kind: 'line'; label: string; field: TextField; answer(text: string | undefined): void }
  | { kind: 'sure'; words: string; answer(yes: boolean): void }
  | { kind: 'pick'; title: string; rows: RowList; answer(id: string | undefined): void }

const searchLabel = 'Search: '

/** A list of a command: its rows are searched by typing, and its keys act on the chosen one. */
export class ListPanel implements Component, Focusable {
  #parts: PanelParts
  #search: TextField
  #rows = new RowList()
  #pastes = new PasteReader()
  #asking: Asking | undefined
  #says: { words: string; isFault: boolean } | undefined
  #acting = false
  #read = 0
  #known = false

  constructor(parts: PanelParts) {
    this.#parts = parts
    this.#search = new TextField()
    void this.#refresh()
  }

  get focused(): boolean {
    return this.#search.focused
  }

  set focused(focused: boolean) {
    this.#search.focused = focused
    if (this.#asking?.kind === 'line') this.#asking.field.focused = focused
  }

  invalidate(): void {}

  handleInput(data: string): void {
    for (const { type, text } of this.#pastes.read(data)) {
      if (type === 'key') this.#key(text)
      else this.#type((field) => field.insert(text))
    }
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    const rows = this.#asking?.kind === 'pick' ? this.#asking.rows : this.#rows
    if (event.type === 'wheel' && event.wheelDelta) rows.move(Math.sign(event.wheelDelta))
    else if (event.type === 'click' && event.button === 'left') rows.point(event.y - this.#above())
    else return undefined
    return { handled: true, focus: true }
  }

  #key(data: string): void {
    const { view } = this.#parts
    const asking = this.#asking
    const action = actionOf(view.name, data) as string | undefined
    if (asking) return this.#answer(asking, action, data)
    if (this.#acting) return
    if (action === 'close') {
      if (this.#search.text === '') return this.#parts.close()
      return this.#type((field) => field.handleInput('\u0015'))
    }
    if (action !== undefined && this.#scrolls(this.#rows, action)) return
    if (action === undefined) return this.#type((field) => field.handleInput(data))
    void this.#act(action)
  }

  /** Takes a key while the panel asks something. */
  #answer(asking: Asking, action: string | undefined, data: string): void {
    const leave = action === 'close'
    if (asking.kind === 'line') {
      if (leave) asking.answer(undefined)
      else if (data === '\r' || data === '\n') asking.answer(asking.field.text)
      else asking.field.handleInput(data)
    } else if (asking.kind === 'sure') {
      if (data === 'y' || data === 'Y') asking.answer(true)
      else if (leave || /^[nN\r\n]$/.test(data)) asking.answer(false)
    } else if (leave) asking.answer(undefined)
    else if (action === 'open') asking.answer(asking.rows.chosen?.id)
    else if (action !== undefined) this.#scrolls(asking.rows, action)
  }

  #scrolls(rows: RowList, action: string): boolean {
    const page = Math.max(1, rows.shown - 1)
    const by = ({ up: -1, down: 1, pageUp: -page, pageDown: page } as Record<string, number | undefined>)[action]
    if (by !== undefined) rows.move(by)
    return by !== undefined
  }

  /** Changes the text of the line that is typed in. */
  #type(work: (field: TextField) => void): void {
    const asked = this.#asking
    if (asked && asked.kind !== 'line') return
    if (asked) return work(asked.field)
    if (!this.#parts.view.searches) return
    const before = this.#search.text
    work(this.#search)
    if (this.#search.text === before) return
    this.#says = undefined
    void this.#refresh(true)
  }

  /** Reads the rows again. Only the newest of several reads is shown; `anew` chooses the first row. */
  async #refresh(anew = false): Promise<void> {
    const read = ++this.#read
    try {
      const rows = await this.#parts.view.rows(this.#search.text.trim())
      if (read !== this.#read) return
      this.#rows.set(rows, anew)
    } catch (error) {
      this.#says = { words: messageOf(error), isFault: true }
    }
    this.#known = true
    this.#parts.repaint()
  }

  async #act(action: string): Promise<void> {
    this.#acting = true
    this.#says = undefined
    try {
      const words = await this.#parts.view.act(action, this.#rows.chosen, this.#talk)
      if (words !== undefined) this.#says = { words, isFault: false }
    } catch (error) {
      this.#says = { words: messageOf(error), isFault: true }
    }
    this.#acting = false
    this.#asking = undefined
    await this.#refresh()
  }

  readonly #talk: ListTalk = {
    line: (label, text = '') =>
      this.#ask((answer) => {
        const field = new TextField({ text })
        field.focused = this.focused
        return { kind: 'line', label, field, answer }
      }),
    sure: (words) => this.#ask((answer) => ({ kind: 'sure', words, answer })),
    pick: (title, rows) =>
      this.#ask((answer) => {
        const list = new RowList()
        list.set(rows, true)
        return { kind: 'pick', title, rows: list, answer }
      }),
    close: () => this.#parts.close(),
  }

  #ask<T>(question: (answer: (given: T) => void) => Asking): Promise<T> {
    return new Promise((resolve) => {
      this.#asking = question((given) => {
        this.#asking = undefined
        resolve(given)
      })
      this.#parts.repaint()
    })
  }

  /** The lines above the first row: the rule, and the line to type in. */
  #above(): number {
    return this.#head(1).length + 1
  }

  #head(width: number): string[] {
    const { theme, view } = this.#parts
    const asking = this.#asking
    if (asking?.kind === 'line') {
      const label = `${truncateToWidth(asking.label, Math.max(1, Math.floor(width / 2)), '…')}: `
      return [theme.accent(label) + asking.field.render(Math.max(1, width - visibleWidth(label)))]
    }
    if (!view.searches || asking) return []
    return [theme.accent(searchLabel) + this.#search.render(Math.max(1, width - searchLabel.length))]
  }

  render(width: number): string[] {
    const { theme, view } = this.#parts
    const inside = insideOf(width)
    const asking = this.#asking
    const rows = asking?.kind === 'pick' ? asking.rows : this.#rows
    const head = this.#head(inside)
    const most = this.#parts.lines() - 1 - head.length
    const whole = this.#foot('', inside)
    const long = rows.height <= most - whole.length ? whole : this.#foot(rows.place, inside)
    // On a very small screen the keys of a question matter more than its words, and a row more than all keys.
    const foot = asking ? long.slice(-Math.max(1, most - 1)) : long.slice(0, Math.max(1, most - 1))
    const room = Math.max(1, most - foot.length)
    const shown = rows.render(inside, room, theme)
    const none = this.#known && shown.length === 0
    const body = none
      ? wrapped(safeText(view.empty(this.#search.text.trim())), inside)
          .slice(0, room)
          .map(theme.quiet)
      : shown
    const title = asking?.kind === 'pick' ? asking.title : view.title
    return ruled([...head, ...body, ...foot], width, theme.accent, { title: theme.strong(title) })
  }

  /** The words of the last action or of a question, the place of the chosen row, and the keys. */
  #foot(place: string, width: number): string[] {
    const { theme } = this.#parts
    const asking = this.#asking
    const keys = (items: readonly string[]) => listed(items, width).map(theme.quiet)
    if (asking?.kind === 'sure')
      return [...wrapped(safeText(asking.words), width).map(theme.strong), ...keys(['y does it', 'n keeps it'])]
    if (asking?.kind === 'line') return keys(['Enter takes it', 'Esc goes back'])
    if (asking?.kind === 'pick') return keys([place, 'Enter takes it', 'Esc goes back'])
    const says = this.#says
    const paint = says?.isFault ? theme.bad : (words: string) => words
    return [...(says ? wrapped(safeText(says.words), width).map(paint) : []), ...keys([place, ...this.#keyWords()])]
  }

  #keyWords(): string[] {
    const { name, actions } = this.#parts.view
    const table: Record<string, { keys: readonly string[] }> = chatKeys[name]
    const first = (action: string) => keyNames(table[action]!.keys.slice(0, 1) as never)
    const own = Object.entries(this.#rows.chosen ? actions : {}).map(([action, words]) => `${first(action)} ${words}`)
    return [...own, this.#search.text === '' ? 'Esc leaves' : 'Esc empties the search']
  }
}

/** The fewest columns of a title; with fewer, cells are left out. */
const leastTitle = 24
const widestCell = 28

/** The rows of a list, one of which is chosen. */
class RowList {
  /** How many rows were drawn last. */
  shown = 1
  #rows: readonly ListRow[] = []
  #chosen = 0
  #from = 0
  #drawn: number[] = []

  get chosen(): ListRow | undefined {
    return this.#rows[this.#chosen]
  }

  /** Replaces the rows. The chosen one stays chosen if it is still there; else the row in its place is chosen. */
  set(rows: readonly ListRow[], anew: boolean): void {
    const at = anew ? 0 : rows.findIndex(({ id }) => id === this.chosen?.id)
    this.#chosen = Math.max(0, at < 0 ? Math.min(this.#chosen, rows.length - 1) : at)
    this.#rows = rows
    if (anew) this.#from = 0
  }

  move(by: number): void {
    const last = this.#rows.length - 1
    const ends = Math.abs(by) === 1 && (this.#chosen + by < 0 || this.#chosen + by > last)
    this.#chosen = ends ? (by < 0 ? Math.max(0, last) : 0) : Math.max(0, Math.min(last, this.#chosen + by))
  }

  point(line: number): void {
    const at = this.#drawn[line]
    if (at !== undefined) this.#chosen = at
  }

  /** The position of the chosen row. */
  get place(): string {
    return `${this.#chosen + 1} of ${this.#rows.length}`
  }

  /** How many lines all rows take. */
  get height(): number {
    return this.#rows.reduce((sum, { note }) => sum + (note === undefined ? 1 : 2), 0)
  }

  render(width: number, room: number, theme: Theme): string[] {
    this.#drawn = []
    if (this.#rows.length === 0) return []
    const height = (at: number) => (this.#rows[at]!.note === undefined ? 1 : 2)
    this.#from = Math.min(this.#from, this.#chosen)
    let taken = 0
    for (let at = this.#from; at <= this.#chosen; at++) taken += height(at)
    while (taken > room && this.#from < this.#chosen) taken -= height(this.#from++)
    const last = this.#rows.length - 1
    for (let at = this.#chosen + 1; at <= last && taken < room; at++) taken += height(at)
    while (this.#from > 0 && taken + height(this.#from - 1) <= room) taken += height(--this.#from)
    const lines: string[] = []
    const columns = this.#columns(width)
    let at = this.#from
    for (; at <= last && lines.length + height(at) <= Math.max(room, height(this.#from)); at++) {
      const row = this.#line(this.#rows[at]!, at === this.#chosen, columns, width, theme)
      lines.push(...row)
      for (const _ of row) this.#drawn.push(at)
    }
    this.shown = Math.max(1, at - this.#from)
    return lines.slice(0, room)
  }

  /** The widths of the cells; the first ones are left out where the title would have no room. */
  #columns(width: number): number[] {
    const count = Math.max(0, ...this.#rows.map(({ cells = [] }) => cells.length))
    const widths = Array.from({ length: count }, (_, nth) =>
      Math.min(widestCell, Math.max(0, ...this.#rows.map(({ cells = [] }) => visibleWidth(oneLine(cells[nth] ?? ''))))),
    )
    for (let nth = 0; nth < count; nth++)
      if (width - 2 - widths.reduce((sum, one) => sum + (one > 0 ? one + 2 : 0), 0) < leastTitle) widths[nth] = 0
    return widths
  }

  #line(row: ListRow, chosen: boolean, columns: readonly number[], width: number, theme: Theme): string[] {
    const cells = columns.flatMap((column, nth) =>
      column > 0 ? [`  ${fitToWidth(oneLine(row.cells?.[nth] ?? ''), column)}`] : [],
    )
    const beside = cells.join('')
    // The indent of a fork is a part of its title.
    const indent = /^ */.exec(row.title)![0]
    const title = fitToWidth(
      `${chosen ? '› ' : '  '}${indent}${oneLine(row.title)}`,
      Math.max(1, width - visibleWidth(beside)),
    )
    const line = chosen ? theme.chosen(fitToWidth(title + beside, width)) : title + theme.quiet(beside)
    if (row.note === undefined) return [line]
    const note = fitToWidth(`    ${oneLine(row.note)}`, width)
    return [line, chosen ? theme.chosen(note) : theme.quiet(note)]
  }
}

type OverlayParts = {
  tui: TUI
  theme: Theme
  /** How many rows are above and below the transcript. */
  margin(): ScreenMargin
  repaint(): void
  closed(): void
  broken(error: unknown): void
}

/** Shows the list of a command over the transcript, one at a time. */
export class ListOverlay {
  #parts: OverlayParts
  #overlay: Overlay
  #over: (() => void) | undefined

  constructor(parts: OverlayParts) {
    this.#parts = parts
    this.#overlay = new Overlay(parts)
  }

  /** Resolves when the list is closed. */
  open(view: ListView): Promise<void> {
    this.close()
    const { tui, theme, margin, repaint } = this.#parts
    const place = aboveInput(tui, margin)
    const panel = new ListPanel({ theme, view, lines: place.height, repaint, close: () => this.close() })
    this.#overlay.show(panel, place)
    return new Promise((resolve) => (this.#over = resolve))
  }

  close(): void {
    this.#overlay.close()
    this.#over?.()
    this.#over = undefined
  }
}
