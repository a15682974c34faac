import type { Journalled, ScreenFacts } from '../../core/work/profile.ts'
import type { Screen, Terminal } from '../../core/screen/terminal.ts'
import type { Marks } from '../../core/screen/fence.ts'
import type { Reader } from '../../core/screen/reading.ts'
import { fenceMarks, findFence, isMark, plainMarks, dedent } from '../../core/screen/fence.ts'
import { idleRow } from '../../core/screen/reading.ts'

/** An answer. `whole` is false when its beginning has scrolled out of sight; `by` says what ended the turn. */
export type ScreenAnswer = { text: string; fenced: boolean; whole: boolean; by: string }

/** How many rows of a terminal are read for an answer. */
const longestAnswer = 20_000

/** The answer from the CLI's journal, which is whole whatever the screen shows; a fence in it is taken off. */
export function journalAnswer({ answer }: Journalled, nonce: string): ScreenAnswer | undefined {
  if (answer === undefined || answer.trim() === '') return undefined
  const inside = fencedIn(answer, nonce)
  return { text: inside ?? answer.trim(), fenced: true, whole: true, by: 'journal' }
}

/** The answer from the terminal: the text inside the fence, else all text after the prompt. */
export async function screenAnswer(
  terminal: Terminal,
  screen: Screen,
  asked: PastedPrompt,
  nonce: string,
  { reader }: ScreenFacts,
  by: string,
): Promise<ScreenAnswer> {
  // A window that was closed by hand has no history.
  const history = await terminal.history(longestAnswer).catch(() => screen.rows)
  const { rows, whole } = rowsSince(history, asked, reader)
  const inside = fencedIn(unfolded(rows, screen.cols).join('\n'), nonce)
  if (inside !== undefined) return { text: inside, fenced: true, whole: true, by: 'fence' }
  return { text: answerText(rows, screen.cols, nonce, { reader }), fenced: false, whole, by }
}

/** The text in rows of a screen, without the marks of the fence. */
export function answerText(
  rows: readonly string[],
  cols: number,
  nonce: string,
  { reader }: Pick<ScreenFacts, 'reader'>,
): string {
  const marks = [fenceMarks(nonce), plainMarks]
  return rowsText(
    rows.filter((row) => !marks.some((mark) => isMark(row, mark))),
    cols,
    reader,
  )
}

function fencedIn(text: string, nonce: string): string | undefined {
  const both: Marks[] = [fenceMarks(nonce), plainMarks]
  return both.map((marks) => findFence(text, marks)?.answer).find((answer) => answer !== undefined)
}

/** A screen before a prompt was pasted: the conversation, and below it the composer and its footer. */
type ScreenBefore = { said: readonly string[]; below: ReadonlySet<string> }

/** A prompt as it was pasted; without the screen `before` it is looked for everywhere. */
export type PastedPrompt = { text: string; before?: ScreenBefore }

/** Characters that screens add to a text when they fold and frame it. */
const added = /[\s│┃║▌▐>❯›]/g
const squeeze = (text: string) => text.replaceAll(added, '')

/** How much of the end of a prompt is looked for. */
const longestTail = 100

/** The last row of the prompt's last echo, or of its first echo from a row on; -1 when there is none. */
export function echoRow(rows: readonly string[], text: string, from?: number): number {
  const tail = squeeze(text).slice(-longestTail)
  if (tail === '') return -1
  let end = ''
  let found = -1
  for (let index = from ?? 0; index < rows.length; index++) {
    const row = squeeze(rows[index]!)
    // A prompt ends where a row ends, so that a word within a sentence is not taken for it.
    end = (end + row).slice(-tail.length)
    if (row === '' || end !== tail) continue
    found = index
    if (from !== undefined) break
  }
  return found
}

/** A row of nothing but lines, blocks and the sign before a prompt. */
export const chrome = /^[\s─━═╌┄╭╮╰╯┌┐└┘├┤│┃║▀▄█▌▐❯›>$%#]*$/

/** Splits a screen at the composer, which begins with the idle mark, else with the row of the cursor. */
export function screenBefore({ rows, cursor }: Screen, reader: Reader): ScreenBefore {
  const idle = idleRow(rows, reader)
  const composer = idle < 0 ? cursor.row : idle
  const above = rows.slice(0, composer)
  const said = above.slice(0, above.findLastIndex((row) => !chrome.test(row)) + 1)
  return { said, below: new Set(rows.slice(composer).map((row) => row.trim())) }
}

/** How many old rows are looked for to find where new ones begin. */
const anchorRows = 8

/** The first row after those that were there before. */
function newFrom(rows: readonly string[], { said }: ScreenBefore): number | undefined {
  const anchor = said.filter((row) => row.trim() !== '').slice(-anchorRows)
  if (anchor.length === 0) return 0
  const full = rows.flatMap((row, index) => (row.trim() === '' ? [] : [{ row, index }]))
  for (let at = full.length - anchor.length; at >= 0; at--)
    if (anchor.every((row, i) => full[at + i]!.row.trimEnd() === row.trimEnd()))
      return full[at + anchor.length - 1]!.index + 1
  return undefined
}

/** The rows between a prompt and the composer; `whole` is false when their beginning is out of sight. */
export function rowsSince(
  rows: readonly string[],
  asked: PastedPrompt,
  reader: Reader,
): { rows: string[]; whole: boolean } {
  const from = asked.before && newFrom(rows, asked.before)
  const echo = echoRow(rows, asked.text, from)
  const start = echo >= 0 ? echo + 1 : (from ?? 0)
  const composer = idleRow(rows, reader)
  // In a program that shows its idle mark before each line, the only one may be the echo itself.
  const end = composer >= start ? composer : rows.length
  const said = rows.slice(start, end)
  const first = said.findIndex((row) => !chrome.test(row))
  const last = said.findLastIndex((row) => !chrome.test(row) && !asked.before?.below.has(row.trim()))
  return { rows: first < 0 ? [] : said.slice(first, last + 1), whole: echo >= 0 || from !== undefined }
}

const spinner = /^\s*[\u2801-\u28ff]\s/
const bullet = /^(\s*)[⏺●•✦◆∙](?=\s)/

/**
 * Rows as text: without spinners, the first bullet and the common indent, and unfolded where the terminal folded
 * them.
 */
export function rowsText(rows: readonly string[], cols: number, reader: Reader): string {
  const said = rows.filter((row) => !spinner.test(row) && !reader.busy?.test(row))
  const lines = unfolded(said, cols).map((row, index) => (index === 0 ? row.replace(bullet, '$1 ') : row).trimEnd())
  return dedent(lines).join('\n').trim()
}

const drawn = /[─━═│┃║╭╮╰╯┌┐└┘█▀▄]$/

/** Joins rows that the terminal folded: a row that is full to the edge continues in the next one. */
export function unfolded(rows: readonly string[], cols: number): string[] {
  const lines: string[] = []
  let open = false
  for (const row of rows) {
    if (open) lines.push(lines.pop()! + row)
    else lines.push(row)
    open = [...row].length >= cols && !drawn.test(row)
  }
  return lines
}
