import type { Io } from '../core/io.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import { say, textFor, UsageError } from '../core/io.ts'
import { escapeOf, picksTyped, suggestedPicks, unclearWords } from '../core/talk/consent.ts'
import { messageOf } from '../base/error-message.ts'
import { wordWrapped } from '../base/text/word-wrap.ts'
import { nobody } from '../core/talk/question.ts'
import { exactText, questionParts } from './question-text.ts'
import { TypingPause } from './typing-pause.ts'
import { exit } from '../core/exit-codes.ts'

/** Asks the person for a yes. Without a terminal to ask on it throws a UsageError that names --yes. */
export async function confirm(io: Io, question: string, yes: boolean): Promise<boolean> {
  if (yes) return true
  if (!io.in.isTTY)
    throw new UsageError(`${question} There is no terminal to ask in. To do it without asking, add --yes.`)
  const answer = await ask(io, `${question} [y/N] `)
  return /^y(es)?$/i.test(answer.trim())
}

/** Asks for one line without showing it, such as a key. */
export async function askHidden(io: Io, question: string): Promise<string> {
  const line = await ask(io, question, undefined, true)
  io.err.write('\n')
  return line
}

/** Asks the person for one line; throws a UsageError if they leave (Ctrl+D, Ctrl+C, a signal) or the question is withdrawn. */
export function ask(io: Io, question: string, withdrawn?: AbortSignal, hidden = false): Promise<string> {
  return new Promise((resolve, reject) => {
    // `node:readline` is loaded on demand: most runs ask nothing.
    const { createInterface } = process.getBuiltinModule('node:readline')
    const lines = createInterface({
      input: io.in,
      ...(hidden ? { output: unseen(), terminal: io.in.isTTY === true } : { output: io.err }),
    })
    let given: string | undefined
    let code = 1
    const leave = (how: number) => {
      code = how
      lines.close()
    }
    const interrupted = () => leave(Number(io.signal.reason))
    const gone = () => leave(1)
    io.signal.addEventListener('abort', interrupted)
    withdrawn?.addEventListener('abort', gone)
    // A terminal in raw mode delivers Ctrl+C as a key, not as a signal.
    lines.on('SIGINT', () => leave(exit.interrupted))
    lines.on('close', () => {
      io.signal.removeEventListener('abort', interrupted)
      withdrawn?.removeEventListener('abort', gone)
      if (given !== undefined) return resolve(given)
      io.err.write('\n')
      reject(new UsageError('there was no answer, so nothing was changed.', code))
    })
    if (io.signal.aborted) return interrupted()
    // Printed only after the echo is off, because a paste may follow immediately.
    const shown = textFor(io.err, question)
    if (hidden) io.err.write(shown)
    lines.question(hidden ? '' : shown, (answer) => {
      given = answer
      lines.close()
    })
  })
}

function unseen() {
  const { Writable } = process.getBuiltinModule('node:stream')
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}

/**
 * Lets the person at the terminal answer questions by number; without a terminal `absent` answers. `around` wraps the person's own
 * answers.
 */
export function personAt(io: Io, absent: Ask = nobody, around = (ask: Ask) => ask): Ask {
  const person = around((question, withdrawn) =>
    answered(io, question, withdrawn).catch((error) => {
      // If a person leaves, that is reported as such; any other error counts as an absent person.
      if (!(error instanceof UsageError)) say(io, `The question could not be shown: ${messageOf(error)}`)
      return undefined
    }),
  )
  return async (question, withdrawn) =>
    io.piped || !io.in.isTTY || withdrawn.aborted ? absent(question, withdrawn) : person(question, withdrawn)
}

/**
 * The answer of the person at the terminal; throws a UsageError if they leave with Ctrl+C or Ctrl+D. A question longer than the screen is
 * shown page by page, and its dangerous parts are repeated beside the answers on every page.
 */
export async function answered(
  io: Io,
  question: Question,
  withdrawn: AbortSignal,
  head: string[] = [],
): Promise<string[] | undefined> {
  const { shown, asked } = await questionParts(question)
  const suggested = suggestedPicks(question)
  const { says } = escapeOf(question)
  const way = suggested
    ? `${unclearWords(question, 'take what is suggested')} Ctrl+D: ${says}.`
    : unclearWords(question)
  // No other line of the question explains Enter.
  const how = question.ordered || suggested || question.unanswered !== undefined ? [way] : []
  const wrapped = (lines: readonly string[]) => wordWrapped(lines.join('\n'), io.err.columns).split('\n')
  // A command and a diff are shown exactly as they are.
  const isProse = shown.length > 0 && question.shows!.every(({ type }) => type === 'text')
  const pages = pagesOf(io, [...head, ...(isProse ? wrapped(shown) : shown)], wrapped([...asked, ...how]))
  let page = 0
  say(io, pages[page]!)
  const early = await typedEarly(io, withdrawn)
  if (early !== '') say(io, earlyWords(early))
  for (;;) {
    const typed = await ask(io, '> ', withdrawn)
    const turn = pages.length > 1 ? { '+': 1, '-': -1 }[typed.trim()] : undefined
    if (turn !== undefined) {
      page = Math.max(0, Math.min(page + turn, pages.length - 1))
      say(io, pages[page]!)
      continue
    }
    const picks = suggested && typed.trim() === '' ? suggested : picksTyped(question, typed)
    if (picks !== 'unclear') return picks
    say(io, wordWrapped(way, io.err.columns))
  }
}

/**
 * Keys that were typed before the person can have read the question, such as a line typed during the turn: they are not an answer. Ctrl+C
 * and Ctrl+D among them leave the question.
 */
async function typedEarly(io: Io, withdrawn: AbortSignal): Promise<string> {
  const input: Io['in'] & { setRawMode?(raw: boolean): unknown } = io.in
  if (!input.setRawMode) return ''
  const over = AbortSignal.any([withdrawn, io.signal])
  const pause = new TypingPause(io.clock)
  let [early, code] = ['', 0]
  const left = new AbortController()
  const read = (data: Buffer | string) => {
    early += data.toString()
    pause.typed()
    code ||= /\x03/.test(early) ? exit.interrupted : /\x04/.test(early) ? 1 : 0
    if (code > 0) left.abort()
  }
  input.setRawMode(true)
  input.on('data', read).resume()
  await pause.over(AbortSignal.any([over, left.signal]))
  input.off('data', read).pause()
  input.setRawMode(false)
  if (code > 0) throw new UsageError('there was no answer, so nothing was changed.', code)
  return early
}

const earlyWords = (typed: string) =>
  `Not taken as the answer, because it was typed before the question was here: ${exactText(typed.replaceAll('\r', '\n').trim()).replaceAll('\n', ' ⏎ ')}`

/** Rows of a page that are always reserved for the content of the question, however many rows its answers need. */
const fewestRows = 4

/** The question as texts that each fit on the screen; one text if its height is not known. */
function pagesOf(io: Io, shown: readonly string[], asked: readonly string[]): string[] {
  // A terminal of unknown size reports 0.
  const [rows, columns] = [io.err.rows || Infinity, io.err.columns || 80]
  const height = (lines: readonly string[]) => lines.flatMap((line) => piecesOf(line, columns)).length
  // Room for the answer, and one spare row, so that the first row stays visible.
  const room = rows - height(asked) - 2
  if (shown.length === 0 || height(shown) <= room) return [[...shown, ...asked].join('\n')]
  const pieces = shown.flatMap((line) => piecesOf(line, columns))
  const size = Math.max(fewestRows, room - 1)
  return Array.from({ length: Math.ceil(pieces.length / size) }, (_, at) => {
    const part = pieces.slice(at * size, (at + 1) * size)
    const place = `— Lines ${at * size + 1}–${at * size + part.length} of ${pieces.length}. Type + for the next page, - for the page before.`
    return [...part, place, ...asked].join('\n')
  })
}

/**
 * Splits a line into pieces that fit on the screen's rows; a character may be two columns wide, so rows are cut early rather than late.
 */
function piecesOf(line: string, columns: number): string[] {
  const rows: string[] = []
  let row = ''
  let width = 0
  for (const char of line) {
    const wide = char.codePointAt(0)! >= 0x1100 ? 2 : 1
    if (width + wide > columns) {
      rows.push(row)
      row = ''
      width = 0
    }
    row += char
    width += wide
  }
  return [...rows, row]
}
