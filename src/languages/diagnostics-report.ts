import type { RawDiagnostic } from './server-table.ts'
import { terminalText } from '../base/text/ansi.ts'

/** An error in a file, as a server reported it, as text that is safe to show. Line and column count from 1. */
type Problem = { line: number; column: number; message: string; code?: string }

/** The errors of one file, and the number of its warnings. */
export type FileProblems = { errors: readonly Problem[]; warnings: number }

/** A file before and after an edit. `before` is undefined if the earlier errors are unknown. */
export type ProblemChange = {
  /** The path of the file as shown in the report. */
  path: string
  before?: FileProblems & { text: string }
  after: FileProblems & { text: string }
}

/** The problems that a server reports after an edit: in the files that were edited, and in others that are open. */
export type EditProblems = { title: string; edited: readonly ProblemChange[]; others: readonly ProblemChange[] }

/** How many errors of one file are stored; further ones are only counted, because the server has hardly understood such a file. */
const mostKept = 300
const longestMessage = 400
/** How many errors of one edit are written out. */
const mostLines = 10
const mostOtherLines = 3
const mostOldLines = 8

/** Parses a server's diagnostics. Their texts are shortened and made harmless at once. */
export function problemsOf(items: readonly RawDiagnostic[]): FileProblems {
  const isError = ({ severity = 1 }: RawDiagnostic) => severity === 1
  const given = items.filter((item) => typeof item === 'object' && item !== null)
  const errors = given
    .filter(isError)
    .slice(0, mostKept)
    .map((item): Problem => {
      const { line = 0, character = 0 } = item.range?.start ?? {}
      const problem: Problem = { line: whole(line) + 1, column: whole(character) + 1, message: harmless(item.message) }
      const code = typeof item.code === 'string' || typeof item.code === 'number' ? harmless(String(item.code)) : ''
      if (code !== '') problem.code = code
      return problem
    })
  return { errors, warnings: given.filter(({ severity }) => severity === 2).length }
}

const whole = (value: unknown) => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0)

function harmless(message: unknown): string {
  const text = terminalText(typeof message === 'string' ? message.slice(0, 4 * longestMessage) : '')
  const line = text
    .trim()
    .replaceAll(/[.:;,]?\s*\n\s*/g, '; ')
    .replaceAll(/\s+/g, ' ')
  return line.length <= longestMessage ? line : `${line.slice(0, longestMessage - 1)}…`
}

/** The edit that a report is about: a late answer arrives with a later step. */
type ReportedEdit = 'this edit' | 'your earlier edit'

/** A report for the model, and the number of errors in it. */
export type Report = { text: string; errors: number }

/** Formats the problems that a server reports; undefined without any problems. */
export function reportOf(
  { title, edited, others }: EditProblems,
  edit: ReportedEdit = 'this edit',
): Report | undefined {
  let room = mostLines
  const parts: string[] = []
  for (const change of edited) {
    const { text, lines } = fileText(title, change, room, edit)
    room -= lines
    if (text !== undefined) parts.push(text)
  }
  const caused = others
    .map((change) => ({ path: change.path, fresh: newErrors(change).fresh }))
    .filter(({ fresh }) => fresh.length > 0)
  if (caused.length > 0) parts.push(causedText(caused, edit))
  const errors = edited.reduce((sum, { after }) => sum + after.errors.length, 0)
  const elsewhere = caused.reduce((sum, { fresh }) => sum + fresh.length, 0)
  return parts.length === 0 ? undefined : { text: parts.join('\n'), errors: errors + elsewhere }
}

function fileText(
  title: string,
  change: ProblemChange,
  room: number,
  edit: ReportedEdit,
): { text?: string; lines: number } {
  const { path, before, after } = change
  const { fresh, old } = newErrors(change)
  if (after.errors.length === 0)
    return before && before.errors.length > 0
      ? { text: `${title} no longer reports errors in ${path}.`, lines: 0 }
      : { lines: 0 }
  const warnings = after.warnings === 0 ? '' : ` and ${counted(after.warnings, 'warning')}`
  if (fresh.length === 0)
    return {
      text: `${title} reports no new errors in ${path}. ${oldText(old, 'error', edit)}`,
      lines: 0,
    }
  const some = old.length === 0 ? '' : `; ${fresh.length === 1 ? '1 of them is' : `${fresh.length} of them are`} new`
  const shown = fresh.slice(0, Math.max(room, 1))
  const more = fresh.length - shown.length
  return {
    lines: shown.length,
    text: [
      `${title} reports ${counted(after.errors.length, 'error')}${warnings} in ${path} after ${edit}${some}:`,
      ...shown.map((error) => `- ${lineText(error)}`),
      ...(more > 0 ? [`- and ${counted(more, 'more new error', 'more new errors')}`] : []),
      ...(old.length === 0 ? [] : [oldText(old, 'other error', edit)]),
    ].join('\n'),
  }
}

/** Old errors are listed by line number only: the model knows them, or did not cause them. */
function oldText(old: readonly Problem[], what: string, edit: ReportedEdit): string {
  const numbers = [...new Set(old.map(({ line }) => line))].sort((a, b) => a - b)
  const shown = numbers.slice(0, mostOldLines).join(', ')
  const where = `${numbers.length === 1 ? 'line' : 'lines'} ${shown}${numbers.length > mostOldLines ? ', …' : ''}`
  return `${counted(old.length, what)} (${where}) ${old.length === 1 ? 'was' : 'were'} there before ${edit}.`
}

function causedText(caused: readonly { path: string; fresh: readonly Problem[] }[], edit: ReportedEdit): string {
  const all = caused.flatMap(({ path, fresh }) => fresh.map((error) => `- ${path}: ${lineText(error)}`))
  const files = caused.length === 1 ? `in ${caused[0]!.path}` : `in ${caused.length} other files`
  const more = all.length - mostOtherLines
  return [
    `${edit[0]!.toUpperCase()}${edit.slice(1)} also causes ${counted(all.length, 'error')} ${files}:`,
    ...all.slice(0, mostOtherLines),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join('\n')
}

const lineText = ({ line, column, message, code }: Problem) =>
  `line ${line}, column ${column}: ${message}${code === undefined ? '' : ` (${code})`}`

const counted = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`

/** Separates new errors from old ones: an old error has the same text, on its former line or elsewhere. */
function newErrors({ before, after }: ProblemChange): { fresh: Problem[]; old: Problem[] } {
  if (!before) return { fresh: [...after.errors], old: [] }
  const moved = lineMap(before.text, after.text)
  const wordsOf = ({ code, message }: Problem) => `${code} ${message}`
  const left = before.errors.map((error) => ({ words: wordsOf(error), line: moved(error.line) }))
  const take = (isSame: (one: { words: string; line: number | undefined }) => boolean) => {
    const at = left.findIndex(isSame)
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  }
  const stayed = new Set(
    after.errors.filter((error) => take((one) => one.words === wordsOf(error) && one.line === error.line)),
  )
  const isOld = (error: Problem) => stayed.has(error) || take((one) => one.words === wordsOf(error))
  const old = after.errors.filter(isOld)
  return { old, fresh: after.errors.filter((error) => !old.includes(error)) }
}

/** Maps a line of the old text to its place in the new text; undefined for a line in the edited part. */
function lineMap(before: string, after: string): (line: number) => number | undefined {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  const most = Math.min(old.length, fresh.length)
  let head = 0
  while (head < most && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < most - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++
  return (line) => {
    if (line <= head) return line
    return line > old.length - tail ? line + fresh.length - old.length : undefined
  }
}
