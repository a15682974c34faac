import { defined } from '../../../base/defined.ts'
import { isTableHead, isTableRow } from './markdown-tables.ts'

/** Code between two fences. */
export type Fence = { mark: string; language: string; begins: boolean }

/**
 * The state at the end of a part: inside a fence, joined to the next part without an empty line, or inside a table, whose
 * head the next part repeats.
 */
export type PartEnd = { fence?: Fence; joined: boolean; table?: readonly string[] }

/** A part of a Markdown text that is rendered by itself. */
export type Part = { text: string; length: number; fence?: Fence; joined: boolean; end: PartEnd }

const opening = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$/
const item = /^([-*+]|\d{1,9}[.)])\s/
const half = { item: /^([-*+]|\d{1,9}[.)]?)$/, fence: /^ {0,3}(`{2,}|~{2,})[^`\s]*$/ }

/** Longer parts are cut if possible, so that streamed text is never rendered from far back. */
const mostProse = 6000
const mostCodeLines = 40
const longestLine = 4000

/**
 * Splits a text at places where later text cannot change the parts before: after an empty line outside of a list, and around code. All
 * parts but the last are final, however the text continues; `end` is the state after the part before.
 */
export function split(text: string, end: PartEnd = { joined: false }): Part[] {
  const cutter = new Cutter(end)
  for (let at = 0; ;) {
    const stop = text.indexOf('\n', at)
    if ((stop < 0 ? text.length : stop) - at > longestLine) {
      const to = breakIn(text, at)
      cutter.piece(text.slice(at, to), to)
      at = to
      continue
    }
    if (stop < 0) {
      cutter.lastLine(text.slice(at), at)
      cutter.cut(text.length, { joined: false })
      return cutter.parts
    }
    cutter.line(text.slice(at, stop), at, stop + 1)
    at = stop + 1
  }
}

/** The line that opened the code block in which a text ends; undefined if it ends in prose. */
export function openFence(text: string): string | undefined {
  let open: string | undefined
  for (const line of text.split('\n')) {
    const mark = opening.exec(line)?.[1]
    if (open === undefined) open = mark && line
    else if (isClosing(line, opening.exec(open)![1]!)) open = undefined
  }
  return open
}

/** Where to break a line that is too long: at a space near its end, and never inside a character. */
function breakIn(text: string, at: number): number {
  const end = at + longestLine
  const space = text.lastIndexOf(' ', end)
  if (space > end - 200) return space + 1
  return /[\udc00-\udfff]/.test(text[end]!) ? end - 1 : end
}

function isClosing(line: string, mark: string): boolean {
  const word = line.trim()
  return word.length >= mark.length && word === mark[0]!.repeat(word.length)
}

class Cutter {
  readonly parts: Part[] = []
  #fence: Fence | undefined
  #joined: boolean
  #from = 0
  #lines: string[] = []
  #size = 0
  #afterBlank = false
  /** The head of the table in which the part begins. */
  #begins: readonly string[]
  /** The head of the table that the lines are in. */
  #table: readonly string[] | undefined

  constructor({ fence, joined, table }: PartEnd) {
    this.#fence = fence
    this.#joined = joined
    this.#table = table
    this.#begins = table ?? []
  }

  /** Takes a whole line, from `at` to the beginning of the next one. */
  line(line: string, at: number, next: number): void {
    if (this.#fence) return this.#codeLine(line, next)
    const fence = opening.exec(line)
    if (!fence) return this.#proseLine(line, at)
    // The fence line belongs to the part before it, so that the next part begins inside.
    this.cut(next, { joined: false, fence: { mark: fence[1]!, language: fence[2]!.toLowerCase(), begins: true } })
  }

  /** Takes the beginning of a line that is too long to wait for its end. */
  piece(text: string, to: number): void {
    this.#hold(text)
    this.cut(to, { joined: true, fence: this.#fence && { ...this.#fence, begins: false } })
  }

  /** Handles the line that is still growing; a half-written fence or list item is treated as if it were complete. */
  lastLine(line: string, at: number): void {
    if (!this.#fence) {
      if (!half.fence.test(line)) this.#proseLine(line, at, half.item.test(line) || item.test(line))
    } else if (!this.#closes(line) && !/^[`~]{1,2}$/.test(line)) this.#hold(line)
  }

  cut(to: number, end: PartEnd): void {
    const length = to - this.#from
    const empty = !this.#fence && this.#lines.every((line) => line.trim() === '')
    const before = this.parts.at(-1)
    if (empty && before) {
      before.length += length
      before.end = end
    } else if (length > 0) {
      const text = [...this.#begins, ...this.#lines].join('\n')
      this.parts.push(defined({ text, length, fence: this.#fence, joined: this.#joined, end }))
    }
    this.#from = to
    this.#lines = []
    this.#size = 0
    this.#afterBlank = false
    this.#fence = end.fence
    this.#joined = end.joined
    this.#table = end.table
    this.#begins = end.table ?? []
  }

  #codeLine(line: string, next: number): void {
    if (this.#closes(line)) return this.cut(next, { joined: false })
    this.#hold(line)
    if (this.#lines.length >= mostCodeLines) this.cut(next, { joined: true, fence: { ...this.#fence!, begins: false } })
  }

  #proseLine(line: string, at: number, mayBeItem = item.test(line)): void {
    const begins = line !== '' && !/^\s/.test(line) && !mayBeItem
    if (!isTableRow(line)) this.#table = undefined
    if (this.#afterBlank && begins) this.cut(at, { joined: false })
    else if (this.#size + line.length > mostProse && this.#lines.length > 0)
      this.cut(at, defined({ joined: true, table: this.#table }))
    const before = this.#lines.at(-1)
    if (!this.#table && before !== undefined && isTableHead(before, line)) this.#table = [before, line]
    this.#hold(line)
    this.#afterBlank = line.trim() === ''
  }

  #closes(line: string): boolean {
    return isClosing(line, this.#fence!.mark)
  }

  #hold(line: string): void {
    this.#lines.push(line)
    this.#size += line.length + 1
  }
}
