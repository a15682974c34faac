import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui'
import { terminalText } from '../../../base/ansi.ts'

/** Characters of one text that are shown; a hint says how many more there are. */
export const mostShown = 64 * 1024

/** A longer run without a break is split, because the library would measure it again and again. */
const longestRun = 4096

/**
 * Text of others made safe for the screen: control sequences are removed, characters that change the direction of the
 * line are shown by their number, and every character has the same width in every terminal.
 */
export function safeText(text: string): string {
  return terminalText(text)
    .replaceAll('\t', '    ')
    .replaceAll(/[\u2028\u2029]/g, '\n')
}

/** The safe text in one line. */
export function oneLine(text: string, most = 400): string {
  return safeText(text.slice(0, most * 4))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, most)
}

/** The shown part of a text, and the hint about the rest. */
export function bounded(text: string, more = 0, most = mostShown): { text: string; rest?: string } {
  const over = Math.max(0, text.length - most) + more
  if (over === 0) return { text }
  const words = `… ${over} more characters; /copy or \`termaite sessions show\` has the whole`
  return { text: text.slice(0, most), rest: words }
}

/** Wraps plain text at words where possible; no line is wider than `width`. */
export function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => runs(line).flatMap((run) => wrapTextWithAnsi(run, Math.max(1, width))))
}

/** Joins items in rows and breaks only between them where possible, so that a number keeps its unit. */
export function listed(items: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const item of items.filter((each) => each !== '')) {
    const joined = lines.length === 0 ? item : `${lines.at(-1)} · ${item}`
    if (visibleWidth(joined) <= width) lines.splice(-1, 1, joined)
    else lines.push(...wrapped(item, width))
  }
  return lines
}

function runs(line: string): string[] {
  if (line.length <= longestRun) return [line]
  return Array.from({ length: Math.ceil(line.length / longestRun) }, (_, at) =>
    line.slice(at * longestRun, (at + 1) * longestRun).toWellFormed(),
  )
}

/** Puts a margin before each line; the first may have a mark in it. */
export function indented(lines: readonly string[], margin: string, first = margin): string[] {
  return lines.map((line, at) => (at === 0 ? `${first}${line}` : line === '' ? '' : `${margin}${line}`))
}

/** Cuts a line that is wider than the screen. */
export function fit(line: string, width: number): string {
  return visibleWidth(line) <= width ? line : truncateToWidth(line, width, '…')
}

/**
 * Changes the lines of a text that grows. A line that is the same as the last time keeps its earlier result: a long answer
 * would otherwise be made anew, line by line, at each of its words.
 */
export class GrowingLines {
  #from: readonly string[] = []
  #to: string[] = []
  #width = 0

  /** `change` may use nothing but the line, its index and the width; call `forget` when anything else changed. */
  map(lines: readonly string[], width: number, change: (line: string, at: number) => string): string[] {
    if (width !== this.#width) this.forget()
    const [from, to] = [this.#from, this.#to]
    this.#from = lines
    this.#to = lines.map((line, at) => (line === from[at] ? to[at]! : change(line, at)))
    this.#width = width
    return this.#to
  }

  forget(): void {
    this.#from = []
    this.#to = []
  }
}
