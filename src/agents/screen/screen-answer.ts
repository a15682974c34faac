import type { Journalled, ScreenFacts } from '../../core/profile/profile.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { ScreenWatcher } from './screen-watcher.ts'
import type { Marks } from '../../core/screen/fence.ts'
import type { Reader } from '../../core/screen/reading.ts'
import { fenceCloses, fenceMarks, findFence, isMark, plainMarks, dedent, unfolded } from '../../core/screen/fence.ts'
import { idleRow } from '../../core/screen/reading.ts'

/** An answer. `whole` is false if its beginning has scrolled away; `by` says how the end of the turn was recognised. */
export type ScreenAnswer = { text: string; fenced: boolean; whole: boolean; by: string }

/** The most rows of a terminal to read for an answer. */
const longestAnswer = 20_000

/** The answer from the CLI's journal, which is complete whatever the screen shows; the marks of the fence are removed. */
export function journalAnswer({ answer }: Journalled, nonce: string): ScreenAnswer | undefined {
  if (answer === undefined || answer.trim() === '') return undefined
  const inside = fencedIn(answer, nonce)
  return { text: inside ?? answer.trim(), fenced: true, whole: true, by: 'journal' }
}

/** The answer from the terminal: the text inside the fence, otherwise all text after the prompt. */
export async function screenAnswer(
  watcher: ScreenWatcher,
  screen: Screen,
  asked: PastedPrompt,
  nonce: string,
  { reader }: ScreenFacts,
  by: string,
): Promise<ScreenAnswer> {
  // A window that was closed by hand has no history.
  const history = await watcher.terminal.history(longestAnswer).catch(() => screen.rows)
  const { rows, whole } = rowsSince(withoutSign(history, screen, asked, reader), asked, reader)
  const inside = fencedIn(unfolded(rows, screen.cols).join('\n'), nonce)
  if (inside !== undefined) return { text: inside, fenced: true, whole: true, by: 'fence' }
  // The opening mark has scrolled out of the terminal, but the raw output may still contain it.
  const closed = marksOf(nonce).find((marks) => fenceCloses(rows.join('\n'), marks))
  const printed = closed && watcher.printed(closed)
  const text = printed === undefined ? undefined : fencedIn(printed, nonce)
  if (text !== undefined) return { text, fenced: true, whole: true, by: 'fence' }
  const shown = answerText(rows, screen.cols, nonce, { reader })
  return { text: shown, fenced: closed !== undefined, whole: whole && !closed, by: closed ? 'fence' : by }
}

/**
 * The answer of a program that has finished but shows nothing between its prompt and its idle mark: some print their mark before the
 * answer, and some answer with the text of the prompt, which looks like its echo.
 */
export function oddAnswer(screen: Screen, asked: PastedPrompt, nonce: string, { reader }: ScreenFacts): string {
  const { cols } = screen
  const rows = withoutSign(screen.rows, screen, asked, reader)
  const composer = idleRow(rows, reader)
  const textFrom = (start: number, old?: ReadonlySet<string>) => {
    const said = rows.filter((row, at) => at >= start && at !== composer && !old?.has(row.trim()))
    return answerText(said, cols, nonce, { reader })
  }
  const places = asked.before ? startsAfter(rows, asked.before) : []
  const echoes = echoesOf(rows, asked, places.at(-1)).filter(({ exact }) => exact)
  // The second of two echoes is the answer of a program that repeats its input.
  const echo = idleRow(rows, reader) < 0 ? echoes[0] : echoes.at(-1)
  if (echo) return textFrom(echo.row + 1, idleRow(rows, reader) < 0 ? asked.before?.below : undefined)
  const texts = [...places, ...(places.length === 0 ? [0] : [])].map((place) => textFrom(place, asked.before?.below))
  return texts.find((text) => text !== '') ?? ''
}

/** The text in rows of a screen, without the marks of the fence. */
export function answerText(
  rows: readonly string[],
  cols: number,
  nonce: string,
  { reader }: Pick<ScreenFacts, 'reader'>,
): string {
  const marks = marksOf(nonce)
  return rowsText(
    rows.filter((row) => !marks.some((mark) => isMark(row, mark))),
    cols,
    reader,
  )
}

const marksOf = (nonce: string): Marks[] => [fenceMarks(nonce), plainMarks]

/** The text in the fence of a turn; undefined if the fence is not closed. */
export function fencedIn(text: string, nonce: string): string | undefined {
  return marksOf(nonce)
    .map((marks) => findFence(text, marks)?.answer)
    .find((answer) => answer !== undefined)
}

/** A screen before a prompt was pasted: the conversation, the text before the cursor, and the composer with its footer. */
type ScreenBefore = { said: readonly string[]; sign: string; below: ReadonlySet<string> }

/**
 * A prompt as it was pasted; without the screen `before` it is searched for everywhere. `held` is the part of it that the program's
 * composer showed before Enter was pressed.
 */
export type PastedPrompt = { text: string; before?: ScreenBefore; held?: string }

/** Characters that screens add to a text when they fold and frame it. */
const added = /[\s│┃║▌▐>❯›]/g
export const squeeze = (text: string) => text.replaceAll(added, '')

/** Characters that programs and terminals show in different ways, or not at all: emoji, combining marks and broken characters. */
const unsteady = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{M}\p{Cf}\ufffd]/gu
const steady = (text: string) => squeeze(text).normalize('NFC').replaceAll(unsteady, '')

/** How much of the end of a prompt to search for. */
const longestTail = 100

/** A row at which the prompt ends; `exact` if only the sign of the composer precedes the prompt. */
type Echo = { row: number; exact: boolean }

/**
 * Finds the rows, from a given one on, at which the prompt ends. The prompt must end where its row ends, so that a match inside a
 * sentence does not count.
 */
function echoesOf(rows: readonly string[], { text, before }: PastedPrompt, from = 0): Echo[] {
  // A prompt that consists only of emoji is compared unchanged.
  const compared = steady(text) === '' ? squeeze : steady
  const whole = compared(text)
  const tail = whole.slice(-longestTail)
  if (tail === '') return []
  const signs = ['', compared(before?.sign ?? '')]
  const echoes: Echo[] = []
  let end = ''
  for (let index = from; index < rows.length; index++) {
    const row = compared(rows[index]!)
    end = (end + row).slice(-tail.length)
    if (row === '' || end !== tail) continue
    // A longer prompt begins further up; its end alone is distinctive enough.
    const lead = whole.length > tail.length || row.length < tail.length ? '' : row.slice(0, -tail.length)
    echoes.push({ row: index, exact: signs.includes(lead) })
  }
  return echoes
}

/** The last row of the prompt's last echo, or of its first echo from a given row on; -1 if it has no echo. */
export function echoRow(rows: readonly string[], asked: PastedPrompt, from?: number): number {
  const all = echoesOf(rows, asked, from)
  const exact = all.filter((echo) => echo.exact)
  const echoes = exact.length > 0 ? exact : all
  return (from === undefined ? echoes.at(-1) : echoes[0])?.row ?? -1
}

/** Matches a row of nothing but lines, blocks and the sign before a prompt. */
export const chrome = /^[\s─━═╌┄╭╮╰╯┌┐└┘├┤│┃║▀▄█▌▐❯›>$%#]*$/

/** Splits a screen at the composer, which begins with the idle mark, else with the row of the cursor. */
export function screenBefore({ rows, cursor }: Screen, reader: Reader): ScreenBefore {
  const idle = idleRow(rows, reader)
  const composer = idle < 0 ? cursor.row : idle
  const above = rows.slice(0, composer)
  const said = above.slice(0, above.findLastIndex((row) => !chrome.test(row)) + 1)
  const sign = (rows[cursor.row] ?? '').slice(0, cursor.col)
  return { said, sign, below: new Set(rows.slice(composer).map((row) => row.trim())) }
}

/** The last characters of the text before the cursor of a program that waits for a line. */
const signEnds = '$#%>❯›»'

/**
 * The text before the cursor of a program that waits for its next line, below the prompt's echo; undefined if it does not wait. A shell
 * may show a different text than before the prompt, as after `cd`: a text that ends as before, or with a usual shell sign, counts too.
 */
export function signOn({ rows, cursor }: Screen, { text, before }: PastedPrompt): string | undefined {
  const old = before?.sign.trimEnd() ?? ''
  const row = (rows[cursor.row] ?? '').trimEnd()
  if (old === '' || row === '' || cursor.col < row.length || echoRow(rows, { text }) >= cursor.row) return undefined
  // Text that was printed without an end of line precedes the sign.
  if (row.endsWith(old)) return old
  const isLast = rows.every((other, at) => at <= cursor.row || other.trim() === '')
  return isLast && (row.at(-1) === old.at(-1) || signEnds.includes(row.at(-1)!)) ? row : undefined
}

/** The rows of a terminal without the prompt sign of a program that has no idle pattern: the sign is not part of its answer. */
export function withoutSign(
  rows: readonly string[],
  screen: Screen,
  asked: PastedPrompt,
  { idle }: Reader,
): readonly string[] {
  const sign = idle ? undefined : signOn(screen, asked)
  const last = rows.findLastIndex((row) => row.trim() !== '')
  const row = rows[last]?.trimEnd() ?? ''
  return sign !== undefined && row.endsWith(sign) ? [...rows.slice(0, last), row.slice(0, -sign.length)] : rows
}

/** How many old rows to search for, to find the beginning of the new ones. */
const anchorRows = 8

/** How many positions to look at; there are several if the same text occurred before. */
const mostPlaces = 20

/** The rows that may be the first new ones, the last one first. */
function startsAfter(rows: readonly string[], { said }: ScreenBefore): number[] {
  const anchor = said.filter((row) => row.trim() !== '').slice(-anchorRows)
  if (anchor.length === 0) return [0]
  const full = rows.flatMap((row, index) => (row.trim() === '' ? [] : [{ row, index }]))
  const places: number[] = []
  for (let at = full.length - anchor.length; at >= 0 && places.length < mostPlaces; at--)
    if (anchor.every((row, i) => full[at + i]!.row.trimEnd() === row.trimEnd()))
      places.push(full[at + anchor.length - 1]!.index + 1)
  return places
}

/** The rows between a prompt and the composer; `whole` is false if their beginning is not visible. */
export function rowsSince(
  rows: readonly string[],
  asked: PastedPrompt,
  reader: Reader,
): { rows: string[]; whole: boolean } {
  const places = asked.before ? startsAfter(rows, asked.before) : []
  // An answer equal to the previous one looks like the end of the old rows, but no prompt follows it.
  const from = places.find((place) => echoRow(rows, asked, place) >= 0) ?? places[0]
  const echo = echoRow(rows, asked, from)
  const start = echo >= 0 ? echo + 1 : (from ?? 0)
  const composer = idleRow(rows, reader)
  // In a program that shows its idle mark before each line, the only mark may be the echo itself.
  const end = composer >= start ? composer : rows.length
  const said = rows.slice(start, end)
  const isOld = (row: string) => asked.before?.below.has(row.trim()) === true
  // Without an echo, the composer from before the prompt may come first among the new rows.
  const first = said.findIndex((row) => !chrome.test(row) && (echo >= 0 || !isOld(row)))
  const last = said.findLastIndex((row) => !chrome.test(row) && !isOld(row))
  return { rows: first < 0 ? [] : said.slice(first, last + 1), whole: echo >= 0 || from !== undefined }
}

const spinner = /^\s*[\u2801-\u28ff]\s/
const bullet = /^(\s*)[⏺●•✦◆∙](?=\s)/

/** Rows as text: without spinners, the first bullet and the common indent, with the lines that the terminal folded unfolded. */
export function rowsText(rows: readonly string[], cols: number, reader: Reader): string {
  const said = rows.filter((row) => !spinner.test(row) && !reader.busy?.test(row))
  const lines = unfolded(said, cols).map((row, index) => (index === 0 ? row.replace(bullet, '$1 ') : row).trimEnd())
  return dedent(lines).join('\n').trim()
}
