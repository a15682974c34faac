import type { TUI } from '@earendil-works/pi-tui'
import type { PictureMention } from '../../core/talk/pictures.ts'
import { Editor, visibleWidth } from '@earendil-works/pi-tui'
import { linkedPicture, linkedPictures, pictureLabel } from '../../core/talk/pictures.ts'
import { graphemeSegmenter } from '../style/graphemes.ts'
import { fitToWidth } from '../style/widgets.ts'

const marker = /\[paste #(\d+) (?:\+(\d+) lines|(\d+) chars)\]/g
const asIs = (text: string) => text

/** A line as the characters that people see, with each chip as one. */
function cellsOf(line: string): string[] {
  const cells: string[] = []
  let from = 0
  const add = (text: string) => cells.push(...[...graphemeSegmenter.segment(text)].map(({ segment }) => segment))
  for (const chip of line.matchAll(marker)) {
    add(line.slice(from, chip.index))
    cells.push(chip[0])
    from = chip.index + chip[0].length
  }
  add(line.slice(from))
  return cells
}

/** The picture in a body that is nothing but a picture. */
function pictureIn(body: string) {
  const [picture] = linkedPictures(body)
  return picture?.text === body ? picture : undefined
}

const nothing = { selectedPrefix: asIs, selectedText: asIs, description: asIs, scrollInfo: asIs, noMatch: asIs }

/** A longer paste is shown as a chip. */
const mostLines = 10
const mostChars = 1000

/** How many lines a text has; a line break at its end does not begin another line. */
const lineCount = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)

/**
 * The library's editor with four additions: chips for long pastes and pictures, whose bodies stay out of its undo copies, edits in the
 * middle of a line, recalled prompts with the cursor at their end, and rows without its frame. Only this file uses the editor's private
 * members.
 */
export class PromptEditor extends Editor {
  /** Rows that are scrolled out of view. */
  above = 0
  below = 0
  #bodies = new Map<string, string>()
  #keys = 0
  /** The chips whose content is still being read. */
  #unread = new Set<string>()

  constructor(tui: TUI) {
    super(tui, { borderColor: asIs, selectList: nothing })
    // Every text that is filled in or recalled comes through here: the pictures in it become chips.
    const plain = this['setTextInternal'].bind(this)
    this['setTextInternal'] = (text: string, place?: 'start' | 'end') => plain(this.#withChips(text), place)
    // After recalling a prompt, or returning to the half-typed one, the cursor is at the end, as in a shell.
    const navigate = this['navigateHistory'].bind(this)
    this['navigateHistory'] = (direction: 1 | -1) => {
      const was = this['historyIndex']
      navigate(direction)
      if (this['historyIndex'] !== was) this.#toEnd()
    }
  }

  #toEnd(): void {
    const lines: string[] = this['state'].lines
    this['state'].cursorLine = lines.length - 1
    this['setCursorCol'](lines.at(-1)!.length)
  }

  protected override renderTopBorder(_width: number, hidden: number): string {
    this.above = hidden
    return ''
  }

  protected override renderBottomBorder(_width: number, hidden: number): string {
    this.below = hidden
    return ''
  }

  /** The rows, each exactly `width` columns wide, with each chip shown by its label. */
  rows(width: number): string[] {
    const shown = (row: string) => row.replace(marker, (text, id, lines, chars) => this.#label(text, id, lines, chars))
    return this.render(width)
      .slice(1, -1)
      .map((row) => (row.includes('[paste #') ? shown(row) : row))
      .map((row) => row + ' '.repeat(Math.max(0, width - visibleWidth(row))))
  }

  /** The row of the cursor among the rows of that width. */
  cursorRow(width: number): number {
    return this.render(width)
      .slice(1, -1)
      .findIndex((row) => row.includes('\x1b[7m'))
  }

  #label(text: string, id: string, lines?: string, chars?: string): string {
    const key = this.#pastes.get(Number(id))
    if (key === undefined) return text
    const picture = pictureIn(this.#bodies.get(key) ?? '')
    if (picture) return fitToWidth(pictureLabel(picture.told), text.length)
    if (this.#unread.has(key)) return `[${'reading '.padEnd(text.length - 2, '·')}]`
    return lines ? `[pasted ${lines} lines]` : `[pasted ${chars} chars]`
  }

  /** Inserts a text that arrived as a whole; a long one becomes a chip. */
  paste(text: string): void {
    this.insertTextAtCursor(this.#folded(text))
  }

  /** Inserts a long text as a chip, which is moved and deleted as one character. */
  fold(body: string): void {
    this.insertTextAtCursor(this.#chip(body))
  }

  /** Inserts a chip for something that is still being read, and returns its key. Until it is read, the chip represents `body`. */
  wait(body: string): string {
    const key = String(this.#keys + 1)
    this.#unread.add(key)
    this.insertTextAtCursor(this.#chip(body))
    return key
  }

  /** Replaces a chip that was being read by these texts, with pictures as chips. A deleted chip stays deleted. */
  settle(key: string, texts: readonly string[]): void {
    this.#unread.delete(key)
    // An undo may bring the chip back.
    this.#bodies.set(key, texts.join(' '))
    const id = [...this.#pastes].find(([, one]) => one === key)?.[0]
    const { lines, cursorLine, cursorCol }: { lines: string[]; cursorLine: number; cursorCol: number } = this['state']
    const mark = new RegExp(`\\[paste #${id} \\d+ chars\\]`)
    const line = lines.findIndex((one) => mark.test(one))
    if (id === undefined || line < 0) return
    const found = mark.exec(lines[line]!)!
    this.#pastes.delete(id)
    const put = texts.map((text) => this.#folded(this.#withChips(text))).join(' ')
    const end = found.index + found[0].length
    const behind = cursorLine === line ? cursorCol - end : undefined
    const fresh = (lines[line]!.slice(0, found.index) + put + lines[line]!.slice(end)).split('\n')
    lines.splice(line, 1, ...fresh)
    if (cursorLine > line) this['state'].cursorLine += fresh.length - 1
    if (behind === undefined || behind < 0) return
    const rest = put.split('\n').at(-1)!.length + (fresh.length === 1 ? found.index : 0)
    this['state'].cursorLine = line + fresh.length - 1
    this['setCursorCol'](rest + behind)
  }

  /** The text, or the chip for it when it is long. */
  #folded(text: string): string {
    const isLong = text.length > mostChars || lineCount(text) > mostLines
    return isLong ? this.#chip(text) : text
  }

  /** The text with a chip for each picture in it. The pictures are numbered after the existing ones. */
  #withChips(text: string): string {
    let [left, at] = ['', 0]
    for (const { start, end, told, ref } of linkedPictures(text)) {
      const number = 1 + Math.max(0, ...this.#pictures().map((one) => one.number))
      left += text.slice(at, start) + this.#chip(linkedPicture({ ...told, number }, ref))
      at = end
    }
    return left + text.slice(at)
  }

  /** The pictures that are shown as chips. */
  #pictures(): PictureMention[] {
    const keys = new Set(this.#pastes.values())
    return [...this.#bodies].flatMap(([key, body]) => (keys.has(key) ? (pictureIn(body)?.told ?? []) : []))
  }

  /** Makes a chip; the marker of a picture is as wide as its label, because the editor lays out the marker. */
  #chip(body: string): string {
    const lines = lineCount(body)
    const id = ++this['pasteCounter']
    const key = String(++this.#keys)
    this.#bodies.set(key, body)
    this.#pastes.set(id, key)
    const picture = pictureIn(body)
    if (!picture) return `[paste #${id} ${lines > mostLines ? `+${lines} lines` : `${body.length} chars`}]`
    const frame = `[paste #${id}  chars]`.length
    return `[paste #${id} ${'0'.repeat(Math.max(1, visibleWidth(pictureLabel(picture.told)) - frame))} chars]`
  }

  /** The whole text with the body of each chip. Text inside a paste that only looks like a chip is left alone. */
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

  /** The text in the cells that the cursor moves over at once, so that a chip is one, and the cell of the cursor. */
  cells(): { cells: string[]; at: number } {
    const { line, col } = this.getCursor()
    const all = this.getLines().map(cellsOf)
    const before = all.slice(0, line).reduce((sum, cells) => sum + cells.length + 1, 0)
    let [at, width] = [0, 0]
    const own = all[line]!
    while (at < own.length && width + own[at]!.length <= col) width += own[at++]!.length
    return { cells: all.flatMap((cells, index) => (index === 0 ? cells : ['\n', ...cells])), at: before + at }
  }

  /** Moves the cursor to a cell; with other cells the text becomes those, which undo takes back. */
  setCells(at: number, cells?: readonly string[]): void {
    if (cells) {
      this['pushUndoSnapshot']()
      this['exitHistoryBrowsing']()
      this['state'].lines = cells.join('').split('\n')
    }
    const before = (cells ?? this.cells().cells).slice(0, at).join('').split('\n')
    this['state'].cursorLine = before.length - 1
    this['setCursorCol'](before.at(-1)!.length)
    this['lastAction'] = null
  }

  undoEdit(): void {
    this['undo']()
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
