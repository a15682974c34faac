import type { EarlierWork } from '../../core/talk/command.ts'
import type { ChatDesk } from '../desk/chat-desk.ts'
import type { ChatState } from '../state/chat-state.ts'
import type { AgentRow } from '../transcript/block.ts'
import type { RenderContext } from '../transcript/markdown/render-context.ts'
import { actionOf } from '../desk/keys.ts'
import { BoardPanel } from './board-panel.ts'
import { BoardRows, earlierRows } from './board-rows.ts'

type ChatBoardParts = {
  desk: Pick<ChatDesk, 'submit'>
  context: RenderContext
  state(): ChatState
  /** The text of the input, and whether its suggestions are open. */
  typed(): string
  popupOpen(): boolean
  /** How many rows the screen has. */
  rows(): number
  flash(words: string): void
  repaint(): void
}

/** The board of the chat: which agents it shows, when it is open, and the keys that it takes. */
export class ChatBoard {
  readonly panel: BoardPanel
  #parts: ChatBoardParts
  #found = new BoardRows()
  /** The agents of the newest turn that are shown from the log. */
  #kept: ReadonlySet<string> = new Set<string>()
  #others: { of: readonly AgentRow[]; kept: ReadonlySet<string>; rows: readonly AgentRow[] } | undefined

  constructor(parts: ChatBoardParts) {
    const { desk, context, state, typed, flash, repaint } = parts
    this.#parts = parts
    this.panel = new BoardPanel({
      context,
      rows: () => this.#rows(),
      room: () => roomOf(parts.rows()),
      covered: () => state().asks.length > 0,
      typing: () => typed() !== '',
      stop: (role) => desk.submit(`/workers stop ${role}`),
      showTerminal: (role) => desk.submit(`/workers attach ${role}`),
      flash,
      repaint,
    })
  }

  get isOpen(): boolean {
    return this.panel.isOpen
  }

  /** The agents that work or worked inside a turn. */
  rowsOf(turn: string): readonly AgentRow[] {
    return this.#found.of(turn, this.#parts.state())
  }

  /** Shows or hides the agents that work inside the running turn. If none works, `/workers` shows those of earlier turns. */
  toggle(): void {
    if (this.panel.isOpen) return this.panel.close()
    const { state, desk } = this.#parts
    if (!state().running.some(({ turn }) => this.rowsOf(turn).length > 0)) return desk.submit('/workers')
    this.#kept = new Set()
    this.panel.open([])
  }

  /** Shows the agents of earlier turns above those of the newest one. Returns false if there are no agents to show. */
  show(earlier: readonly EarlierWork[]): boolean {
    const { running } = this.#parts.state()
    // While a turn runs, its events say more than its log does; when it is over, the log has everything.
    const isRunning = (work: EarlierWork) => running.some(({ turn }) => turn === work.turn)
    const others = earlier.filter((work) => !isRunning(work))
    this.#kept = new Set(others.filter(({ turn }) => this.rowsOf(turn).length > 0).map(({ role }) => role))
    if (others.length + this.#rows().length === 0) return false
    this.panel.open(earlierRows(others))
    this.#parts.repaint()
    return true
  }

  /** Handles a key while the board is open. Returns false if the key is meant for the input. */
  press(data: string): boolean {
    if (!this.panel.isOpen || this.#parts.popupOpen()) return false
    const action = actionOf('board', data)
    return action !== undefined && this.panel.press(action)
  }

  #rows(): readonly AgentRow[] {
    const rows = this.#found.newest(this.#parts.state())
    if (this.#kept.size === 0) return rows
    if (this.#others?.of !== rows || this.#others.kept !== this.#kept)
      this.#others = { of: rows, kept: this.#kept, rows: rows.filter(({ role }) => !this.#kept.has(role)) }
    return this.#others.rows
  }
}

/** How many lines the board may take on a screen with this many rows; the rest is for the conversation. */
function roomOf(rows: number): { list: number; opened: number } {
  return { list: Math.max(4, Math.floor(rows * 0.4)), opened: Math.max(4, rows < 20 ? rows - 6 : rows - 10) }
}
