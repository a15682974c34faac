import type { TUI } from '@earendil-works/pi-tui'
import { Editor, visibleWidth } from '@earendil-works/pi-tui'

const marker = /\[paste #(\d+) (?:\+(\d+) lines|(\d+) chars)\]/g
const asIs = (text: string) => text
const nothing = { selectedPrefix: asIs, selectedText: asIs, description: asIs, scrollInfo: asIs, noMatch: asIs }

/**
 * The library's editor with three additions: chips for long pastes, whose bodies stay out of its undo copies, edits in
 * the middle of a line, and rows without its frame. Only this file uses the editor's private members.
 */
export class PromptEditor extends Editor {
  /** Rows that are scrolled out of sight. */
  above = 0
  below = 0
  #bodies = new Map<string, string>()
  #folded = 0

  constructor(tui: TUI) {
    super(tui, { borderColor: asIs, selectList: nothing })
  }

  protected override renderTopBorder(_width: number, hidden: number): string {
    this.above = hidden
    return ''
  }

  protected override renderBottomBorder(_width: number, hidden: number): string {
    this.below = hidden
    return ''
  }

  /** The rows, each exactly that wide, with chips as a person reads them. */
  rows(width: number): string[] {
    const shown = (row: string) => row.replace(marker, (text, id, lines, chars) => this.#label(text, id, lines, chars))
    return this.render(width)
      .slice(1, -1)
      .map((row) => (row.includes('[paste #') ? shown(row) : row))
      .map((row) => row + ' '.repeat(Math.max(0, width - visibleWidth(row))))
  }

  #label(text: string, id: string, lines?: string, chars?: string): string {
    if (!this.#pastes.has(Number(id))) return text
    return lines ? `[pasted ${lines} lines]` : `[pasted ${chars} chars]`
  }

  /** Inserts a long text as a chip, which is moved and deleted as one character. */
  fold(body: string): void {
    const lines = body.split('\n').length
    const id = ++this['pasteCounter']
    const key = String(++this.#folded)
    this.#bodies.set(key, body)
    this.#pastes.set(id, key)
    this.insertTextAtCursor(`[paste #${id} ${lines > 10 ? `+${lines} lines` : `${body.length} chars`}]`)
  }

  /** The whole text with the body of each chip; text inside a paste that only looks like a chip stays. */
  whole(): string {
    return this.getText().replace(marker, (text, id) => this.#bodies.get(this.#pastes.get(Number(id)) ?? '') ?? text)
  }

  /** Replaces the text between a column and the cursor. */
  replaceBeforeCursor(from: number, text: string): void {
    this['pushUndoSnapshot']()
    const { line, col } = this.getCursor()
    const words = this.getLines()[line]!
    const lines: string[] = this['state'].lines
    lines[line] = words.slice(0, from) + text + words.slice(col)
    this['setCursorCol'](from + text.length)
  }

  /** Empties the editor after a prompt was sent, with nothing left to undo. */
  reset(): void {
    this.setText('')
    this['undoStack'].clear()
    this.#bodies.clear()
  }

  /** The key of each chip's body by the number of the chip, which the editor may change. */
  get #pastes(): Map<number, string> {
    return this['pastes']
  }
}
