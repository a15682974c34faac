import type { Component, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { KeyAction } from '../desk/keys.ts'
import type { AgentRow, Block } from '../transcript/block.ts'
import type { RenderContext } from '../transcript/markdown/render-context.ts'
import { roleLabel } from '../../core/talk/framework.ts'
import { isAtWork } from '../transcript/agent-rows.ts'
import type { RowColumns } from '../transcript/blocks/board-lines.ts'
import { columnsOf, countWords, rowLine, rowMark, rowNumbers, stateNames } from '../transcript/blocks/board-lines.ts'
import { oneLine } from '../style/safe-text.ts'
import type { Segment } from '../screen/line-segments.ts'
import { fitSegments } from '../screen/line-segments.ts'
import { fitToWidth, insideOf, ruled } from '../style/widgets.ts'
import { RowEvents } from './row-events.ts'

/** An agent of an earlier turn, read from the log. Its events are read when its row is opened. */
export type EarlierRow = { row: AgentRow; events(): Promise<readonly Block[]> }

type BoardPanelParts = {
  context: RenderContext
  /** The rows of the newest turn that has any. */
  rows(): readonly AgentRow[]
  /** The most lines for the list, and the most lines for an opened agent. */
  room(): { list: number; opened: number }
  /** Whether a card is open: it takes the keys and needs the space. */
  covered(): boolean
  /** Whether the person has typed something: Enter and the arrow keys then belong to the input. */
  typing(): boolean
  stop(role: string): void
  showTerminal(role: string): void
  /** Shows a message for a moment. */
  flash(words: string): void
  repaint(): void
}

/** The lines of the title and of the keys. */
const edges = 2

/**
 * The agents that work or worked inside a turn, shown above the input: a list with one chosen row, or everything that the chosen agent
 * did. Typed text still goes to the input.
 */
export class BoardPanel implements Component {
  #parts: BoardPanelParts
  #isOpen = false
  #earlier: readonly EarlierRow[] = []
  #chosen: number | undefined
  /** The row whose events are shown. */
  #opened: number | undefined
  #events: RowEvents
  /** The agents of earlier turns whose events were read. */
  #read = new WeakSet<EarlierRow>()
  /** The first visible row, and the number of visible rows. */
  #top = 0
  #page = 1
  #joined: { rows: readonly AgentRow[]; earlier: readonly EarlierRow[]; all: readonly AgentRow[] } | undefined
  #measured: { rows: readonly AgentRow[]; columns: RowColumns } | undefined
  #lines = new Map<number, { row: AgentRow; mark: string; line: string }>()

  constructor(parts: BoardPanelParts) {
    this.#parts = parts
    this.#events = new RowEvents(parts.context)
  }

  /** Whether the panel is on the screen and takes keys. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#parts.covered()
  }

  /** Opens the list, with the agents of earlier turns above those of this one. */
  open(earlier: readonly EarlierRow[]): void {
    this.#isOpen = true
    this.#earlier = earlier
    this.#opened = undefined
    const rows = this.#rows()
    this.#chosen = (rows.find(isAtWork) ?? rows.at(-1))?.key
  }

  close(): void {
    this.#isOpen = false
    this.#opened = undefined
    this.#earlier = []
    this.#lines.clear()
    this.#events.forget()
  }

  invalidate(): void {
    this.#lines.clear()
    this.#events.forget()
  }

  /** Does what a key of the board means; false leaves the key to the input. */
  press(action: KeyAction<'board'>): boolean {
    const row = this.#row()
    switch (action) {
      case 'up':
      case 'down':
      case 'pageUp':
      case 'pageDown':
        return this.#move(action)
      case 'open':
        if (this.#parts.typing() || this.#opened !== undefined || !row) return false
        this.#openRow(row)
        return true
      case 'stop':
        if (!row) return false
        if (isAtWork(row)) this.#parts.stop(row.role)
        else this.#parts.flash(`${oneLine(roleLabel(row.role), 40)} has already finished`)
        return true
      case 'terminal':
        if (!row) return false
        if (row.terminal && isAtWork(row)) this.#parts.showTerminal(row.role)
        else this.#parts.flash(`${oneLine(roleLabel(row.role), 40)} has no terminal`)
        return true
      case 'close':
        if (this.#opened === undefined) this.close()
        else this.#opened = undefined
        return true
    }
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type === 'wheel' && event.wheelDelta) {
      const by = Math.sign(event.wheelDelta)
      if (this.#opened === undefined) this.#choose(by)
      else this.#events.scroll(3 * by)
      return { handled: true }
    }
    if (event.type !== 'click' || event.button !== 'left' || this.#opened !== undefined) return undefined
    const row = this.#rows()[this.#top + event.y - 1]
    if (event.y < 1 || event.y > this.#page || !row) return undefined
    this.#chosen = row.key
    this.#openRow(row)
    return { handled: true }
  }

  render(width: number): string[] {
    if (!this.isOpen) return []
    const inside = insideOf(width)
    const opened = this.#rows().find(({ key }) => key === this.#opened)
    return opened ? this.#openedLines(opened, width, inside) : this.#listLines(width, inside)
  }

  #listLines(width: number, inside: number): string[] {
    const { context, room } = this.#parts
    const { theme } = context
    const rows = this.#rows()
    const at = Math.max(
      0,
      rows.findIndex(({ key }) => key === this.#chosen),
    )
    this.#chosen = rows[at]?.key
    this.#page = Math.max(1, Math.min(rows.length, room().list - edges))
    this.#top = Math.max(0, Math.min(Math.max(this.#top, at - this.#page + 1), at, rows.length - this.#page))
    const shown = rows.slice(this.#top, this.#top + this.#page)
    const columns = this.#columns(rows)
    const lines = shown.map((row) => this.#line(row, row.key === this.#chosen, inside, columns))
    const place = rows.length > this.#page ? [`${at + 1} of ${rows.length}`] : []
    const ways = this.#parts.typing() ? [] : ['Enter opens', 'Up, Down choose']
    const foot = this.#foot([...place, ...ways.toReversed()], rows[at], 'Esc closes', width)
    const counts = countWords(rows)
    const turns = this.#earlier.length === 0 ? 'this turn' : 'this and earlier turns'
    const title = `${theme.strong(`Agents of ${turns}`)}${counts === '' ? '' : theme.quiet(` · ${counts}`)}`
    return ruled(
      lines.length > 0 ? lines : [theme.quiet('No agent has worked inside a turn here.')],
      width,
      theme.accent,
      {
        title,
        foot,
      },
    )
  }

  /** A row as a line, rendered again only when the row, its time, its place or the width changes. */
  #line(row: AgentRow, isChosen: boolean, width: number, columns: RowColumns): string {
    const { theme, now } = this.#parts.context
    const time = isAtWork(row) ? Math.floor((now() - row.since) / 1000) : 0
    const mark = `${width} ${columns.role} ${columns.agent} ${time} ${isChosen}`
    const known = this.#lines.get(row.key)
    if (known?.row === row && known.mark === mark) return known.line
    const words = rowLine(row, width, theme, now(), columns)
    const line = isChosen ? theme.chosen(fitToWidth(`› ${words.slice(2)}`, width)) : words
    this.#lines.set(row.key, { row, mark, line })
    return line
  }

  #openedLines(row: AgentRow, width: number, inside: number): string[] {
    const { context, room } = this.#parts
    const { theme, now } = context
    const most = Math.max(1, room().opened - edges)
    const { lines, below } = this.#events.shown(row, inside, most)
    const who = row.by === undefined ? [] : [theme.speaker(row.by)(oneLine(row.by, 30))]
    const named = `${rowMark(row.state, theme)} ${theme.strong(oneLine(roleLabel(row.role), 60))}`
    const words = rowNumbers(row, now())
    const state = words.some((word) => word === stateNames[row.state]) ? [] : [stateNames[row.state]]
    const title = [named, ...who, theme.quiet([...state, ...words].join(' · '))].join(' · ')
    const more = below > 0 ? [`${below} more lines`] : []
    const scrolls = this.#parts.typing() ? 'PgUp, PgDn scroll' : 'Up, Down, PgUp, PgDn scroll'
    const foot = this.#foot([...more, scrolls], row, 'Esc goes back', width)
    return ruled(lines, width, theme.accent, { title, foot })
  }

  /** The keys below the lines. On a narrow screen the hints that everybody can guess are dropped first. */
  #foot(words: readonly string[], row: AgentRow | undefined, escape: string, width: number): string {
    const segments = [...words, ...this.#actions(row), escape].map((word): Segment => {
      const priority = word === escape ? 3 : word.startsWith('Ctrl+') || word.startsWith('Enter') ? 2 : 1
      return { forms: [word, ''], priority }
    })
    return this.#parts.context.theme.quiet(fitSegments(segments, insideOf(width)))
  }

  #actions(row: AgentRow | undefined): string[] {
    if (!row || !isAtWork(row)) return []
    return ['Ctrl+X stops', ...(row.terminal ? ['Ctrl+O terminal'] : [])]
  }

  #rows(): readonly AgentRow[] {
    const rows = this.#parts.rows()
    const earlier = this.#earlier
    if (earlier.length === 0) return rows
    if (this.#joined?.rows !== rows || this.#joined.earlier !== earlier)
      this.#joined = { rows, earlier, all: [...earlier.map(({ row }) => row), ...rows] }
    return this.#joined.all
  }

  #columns(rows: readonly AgentRow[]): RowColumns {
    if (this.#measured?.rows !== rows) this.#measured = { rows, columns: columnsOf(rows) }
    return this.#measured.columns
  }

  #row(): AgentRow | undefined {
    return this.#rows().find(({ key }) => key === this.#chosen)
  }

  #move(action: 'up' | 'down' | 'pageUp' | 'pageDown'): boolean {
    const isPage = action === 'pageUp' || action === 'pageDown'
    if (!isPage && this.#parts.typing()) return false
    const sign = action === 'up' || action === 'pageUp' ? -1 : 1
    if (this.#opened === undefined) this.#choose(sign * (isPage ? this.#page : 1))
    else this.#events.scroll(sign * (isPage ? Math.max(1, this.#parts.room().opened - edges - 1) : 1))
    return true
  }

  #choose(by: number): void {
    const rows = this.#rows()
    const at = rows.findIndex(({ key }) => key === this.#chosen)
    this.#chosen = rows[Math.max(0, Math.min(at + by, rows.length - 1))]?.key
  }

  #openRow(row: AgentRow): void {
    this.#opened = row.key
    this.#events.follow()
    const kept = this.#earlier.find((one) => one.row.key === row.key)
    if (!kept || this.#read.has(kept)) return
    this.#read.add(kept)
    // The panel shows only the handoff until the events are read, or if they cannot be read.
    void kept.events().then(
      (blocks) => {
        const read = { ...kept, row: { ...kept.row, blocks: [...blocks, ...kept.row.blocks] } }
        this.#read.add(read)
        this.#earlier = this.#earlier.map((one) => (one === kept ? read : one))
        this.#parts.repaint()
      },
      () => {},
    )
  }
}
