import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui'
import { stripAnsi } from '../../../base/ansi.ts'

/** What a whole text may take of the screen; what is more is said to be there. */
export const mostShown = 64 * 1024

/** A run without a break would be measured as one word, over and over. */
const longestRun = 4096

/**
 * What somebody else wrote, as nothing but text: no control sequence is left in it, what would turn the direction
 * of the line is shown by its number, and every character has the same width everywhere.
 */
export function safeText(text: string): string {
  const stripped = stripAnsi(text).toWellFormed()
  if (!suspect.test(stripped)) return stripped
  return stripped
    .replaceAll('\t', '    ')
    .replaceAll(/[\u2028\u2029]/g, '\n')
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, (char) => `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase()}⟩`)
    .replaceAll(/[\u00ad\u061c\u200b\u200e\u200f\u2060-\u2064\ufeff\ufff9-\ufffb]/g, '')
}

const suspect = /[\t\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/

/** The harmless text in one line. */
export function oneLine(text: string, most = 400): string {
  return safeText(text.slice(0, most * 4))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, most)
}

/** As much of a text as is shown, and the words for the rest. */
export function bounded(text: string, more = 0, most = mostShown): { text: string; rest?: string } {
  const over = Math.max(0, text.length - most) + more
  if (over === 0) return { text }
  const words = `… ${over} more characters; /copy or \`termaite sessions show\` has the whole`
  return { text: text.slice(0, most), rest: words }
}

/** Lines of plain text, broken at words where it can be, none wider than that. */
export function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => runs(line).flatMap((run) => wrapTextWithAnsi(run, Math.max(1, width))))
}

/** Things that stand in a row, broken between them where there is no room: a number keeps its unit. */
export function listed(things: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const thing of things.filter((each) => each !== '')) {
    const joined = lines.length === 0 ? thing : `${lines.at(-1)} · ${thing}`
    if (visibleWidth(joined) <= width) lines.splice(-1, 1, joined)
    else lines.push(...wrapped(thing, width))
  }
  return lines
}

function runs(line: string): string[] {
  if (line.length <= longestRun) return [line]
  return Array.from({ length: Math.ceil(line.length / longestRun) }, (_, at) =>
    line.slice(at * longestRun, (at + 1) * longestRun).toWellFormed(),
  )
}

/** Each line behind a margin; the first may have a mark in it. */
export function indented(lines: readonly string[], margin: string, first = margin): string[] {
  return lines.map((line, at) => (at === 0 ? `${first}${line}` : line === '' ? '' : `${margin}${line}`))
}

/** The promise to the terminal: no line is ever wider than the screen. */
export function fit(line: string, width: number): string {
  return visibleWidth(line) <= width ? line : truncateToWidth(line, width, '…')
}
