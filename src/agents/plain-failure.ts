import type { Ended } from '../core/profile/profile.ts'
import type { Failure } from '../core/talk/outcome.ts'
import { defined } from '../base/defined.ts'
import { reportsLimit, statesLimit } from '../core/talk/limit-message.ts'
import { resetTime } from '../core/talk/reset-time.ts'

const overflowWords =
  /\b(context|prompt|input)\b.{0,40}\btoo (long|large|big)\b|\bcontext[ _-]?(length|window)\b.{0,40}\b(exceed|limit|full)|\bexceeds?\b.{0,40}\bcontext\b|\bmaximum context\b/i

/**
 * Matches a line that reports an error rather than merely mentioning one: "Error: …", "openai.RateLimitError: …", {"error": …}, "429 Too
 * Many Requests". A line in quotes or in a list only mentions it.
 */
const errorLead =
  /^[[⚠✗✖❌×■! \uFE0F]{0,3}(?:(?:fatal |api |http |request )?(?:error|failure|panic)(?: code| \d+)?\s*:|[\w.]*(?:Error|Exception)\b(?: \[\w+\])?:|\{\s*"?error"?\s*:|(?:HTTP(?:\/[\d.]+)? )?429 (?:Too Many Requests|\{|RESOURCE_EXHAUSTED|Rate limit))/i

/** An output with more lines is an answer, whatever it says. */
const mostLinesOfStatement = 3

/**
 * The failure of a command without a profile. A command that failed is judged by the message at the end of its output, on either stream,
 * even if a trace follows it. Its answer may mention limits too, so on stdout the message must report an error. A command that exited
 * with 0 is judged only if its whole output is such a message, or if it gave no answer.
 */
export function plainFailure(ended: Ended): Failure | undefined {
  const silent = ended.out.trim() === ''
  if (ended.code === 0 && !silent) return statementFailure(ended)
  const complaint = closingMessage(ended.err)
  const found = failureIn(complaint, ended.now, () => true)
  if (found) return found
  // A separate message on stderr says more than the answer before it.
  if (!silent && complaint.headline === '')
    return failureIn(closingMessage(ended.out), ended.now, (line) => errorLead.test(line) || statesLimit(line))
  return undefined
}

function statementFailure({ out, now }: Ended): Failure | undefined {
  const lines = out.trim().split('\n')
  const whole = out.trim().replaceAll(/\s+/g, ' ')
  if (lines.length > mostLinesOfStatement || !statesLimit(whole) || !/\b(?:again|resets?|upgrade|wait)\b/i.test(whole))
    return undefined
  return quota(short(whole), whole, now)
}

/** The message at the end of an output: its first line, and the details that an error prints below it. */
type ClosingMessage = { headline: string; details: readonly string[] }

function failureIn(message: ClosingMessage, now: number, counts: (line: string) => boolean): Failure | undefined {
  const { headline, details } = message
  if (!counts(headline)) return undefined
  const all = [headline, ...details].join('\n')
  if (reportsLimit(headline)) return quota(short(headline), all, now)
  if (overflowWords.test(headline)) return { kind: 'overflow', message: short(headline) }
  const cause = details.find((line) => reportsLimit(line) && (errorLead.test(line) || statesLimit(line)))
  return cause === undefined ? undefined : quota(short(cause), all, now)
}

const quota = (message: string, text: string, now: number): Failure =>
  defined<Failure>({ kind: 'quota', message, retryAt: resetTime(text, now) })

/** Matches a line of a stack trace, of a printed object, or of a runner that only repeats that the command failed. */
const traceLine =
  /^\s+\S|^[\s^~{}()[\],;]*$|^[\w./*]+\([^ ]*\)$|^(?:Node\.js v|goroutine \d+ \[|exit status \d+$|npm (?:ERR!|error)|error Command failed|error: script ".*" exited|Caused by:$|Stack ?trace:$|stack backtrace:$|note: run with|\(Request ID\b.*\)$)/i

/** Frames hold names of files and functions, which say nothing about the cause. */
const frame = /^\s+(?:at |File "|from .*:\d+|\/.*:\d+|\.{3} \d+ more)|^\s*[\^~]+\s*$|^(?:npm |error Command|Node\.js)/

/** If a trace is longer than this, no message belongs to it. */
const mostTraceLines = 80

/** Finds the message at the end of an output, above a trace that may follow. */
export function closingMessage(text: string): ClosingMessage {
  const lines = text.trimEnd().split('\n')
  const details: string[] = []
  for (let at = lines.length - 1; at >= Math.max(0, lines.length - mostTraceLines); at--) {
    const line = lines[at]!
    if (!traceLine.test(line)) return { headline: line.trim(), details: details.toReversed() }
    if (!frame.test(line) && /\w/.test(line)) details.push(line.trim().replace(/^\d+: /, ''))
  }
  // No line says what failed, so the last line counts as the message.
  return { headline: lines.at(-1)!.trim(), details: [] }
}

/** Shortens a line for use in a message. */
export const short = (line: string) => (line.length > 300 ? `${line.slice(0, 300)}…` : line)
