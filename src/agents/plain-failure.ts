import type { Ended } from '../core/profile/profile.ts'
import type { Failure } from '../core/talk/outcome.ts'
import { defined } from '../base/defined.ts'
import { resetTime } from '../core/talk/reset-time.ts'

/** Leaves out "disk quota": waiting does not help with that one. */
const quotaWords =
  /(?<!\bdisk )\bquota\b|\busage limit|\brate[ -]?limit|\bRateLimit|\b429\b|\bRESOURCE_EXHAUSTED\b|\binsufficient_quota\b|\b(?:out of|insufficient|no) credits\b|\bcredit balance is too low\b/i
const overflowWords =
  /\b(context|prompt|input)\b.{0,40}\btoo (long|large|big)\b|\bcontext[ _-]?(length|window)\b.{0,40}\b(exceed|limit|full)|\bexceeds?\b.{0,40}\bcontext\b|\bmaximum context\b/i

/** A line that reports an error, and does not only talk about one: "Error: …", "openai.RateLimitError: …", {"error": …}, "429 Too Many Requests". A line in quotes or in a list talks. */
const errorLead =
  /^[[⚠✗✖❌×■! \uFE0F]{0,3}(?:(?:fatal |api |http |request )?(?:error|failure|panic)(?: code| \d+)?\s*:|[\w.]*(?:Error|Exception)\b(?: \[\w+\])?:|\{\s*"?error"?\s*:|(?:HTTP(?:\/[\d.]+)? )?429 (?:Too Many Requests|\{|RESOURCE_EXHAUSTED|Rate limit))/i

/** A line that says by itself that a limit is spent. */
const statement = new RegExp(
  [
    /^[[⚠✗✖❌×■! \uFE0F]{0,3}(?:sorry, )?you(?:['’]ve| have)? (?:hit|reached|exceeded|exhausted|used up|(?:run|ran) out of|used all(?: of)?)\b[^.]{0,60}?\b(?:limit|quota|credits|requests|tokens)s?(?: reached| exceeded)?/,
    /^[[⚠✗✖❌×■! \uFE0F]{0,3}(?:your |the )?(?:[\w-]+ ){0,3}(?:limit|quota|credits|free usage)s? (?:has been |have been |was |is |are )?(?:exceeded|reached|hit|exhausted|used up|spent)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)

/** The parts of a message that may follow such a statement: which limit, until when, and what to do. Other text shows that somebody only writes about limits. */
const remedy =
  /^(?:(?:please|it|this|they|you can|you will|or|and|then|will|your \w+)\s+)*(?:try again|resets?\b|retry\b|renews?\b|upgrade\b|wait\b|add\b|check\b|see\b|visit\b|purchase\b|contact\b|switch\b|come back|regain\b|https?:|(?:for|until|on|at|in|by)\s|\d{10,13}$|\()/i

/** Every such statement has one of these; most lines have none. */
const mayStateLimit = /limit|quota|credits|requests|tokens|free usage/i

function statesLimit(line: string): boolean {
  if (!mayStateLimit.test(line)) return false
  const [said] = statement.exec(line) ?? []
  if (said === undefined) return false
  const rest = line.slice(line.indexOf(said) + said.length).split(/[.!·;|,]\s*(?=\S|$)|\s[-–—]\s/)
  return rest.map((part) => part.trim()).every((part) => part === '' || /^[.!:)]+$/.test(part) || remedy.test(part))
}

/** An output of more lines is an answer, whatever its words are. */
const mostLinesOfStatement = 3

/**
 * The failure of a command without a profile. A command that failed is judged by the message at the end of its output, on either stream and
 * whatever trace follows it. Its answer may speak of limits as well, so on stdout the message must report an error. A command that exited
 * with 0 is judged only when its whole output is such a message, or when it gave no answer.
 */
export function plainFailure(ended: Ended): Failure | undefined {
  const silent = ended.out.trim() === ''
  if (ended.code === 0 && !silent) return statementFailure(ended)
  const complaint = closingMessage(ended.err)
  const found = failureIn(complaint, ended.now, () => true)
  if (found) return found
  // A message of its own on stderr says more than the answer before it.
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
  if (quotaWords.test(headline) || statesLimit(headline)) return quota(short(headline), all, now)
  if (overflowWords.test(headline)) return { kind: 'overflow', message: short(headline) }
  const cause = details.find((line) => quotaWords.test(line) && (errorLead.test(line) || statesLimit(line)))
  return cause === undefined ? undefined : quota(short(cause), all, now)
}

const quota = (message: string, text: string, now: number): Failure =>
  defined<Failure>({ kind: 'quota', message, retryAt: resetTime(text, now) })

/** A line of a stack trace, of an object that was printed, or of a runner that only repeats that the command failed. */
const traceLine =
  /^\s+\S|^[\s^~{}()[\],;]*$|^[\w./*]+\([^ ]*\)$|^(?:Node\.js v|goroutine \d+ \[|exit status \d+$|npm (?:ERR!|error)|error Command failed|error: script ".*" exited|Caused by:$|Stack ?trace:$|stack backtrace:$|note: run with)/i

/** Frames hold names of files and functions, which say nothing about the cause. */
const frame = /^\s+(?:at |File "|from .*:\d+|\/.*:\d+|\.{3} \d+ more)|^\s*[\^~]+\s*$|^(?:npm |error Command|Node\.js)/

/** A longer trace is followed by no message that belongs to it. */
const mostTraceLines = 80

/** Finds the message at the end of an output, above the trace that may follow it. */
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

/** A line, short enough for a message. */
export const short = (line: string) => (line.length > 300 ? `${line.slice(0, 300)}…` : line)
