import { remarkOf } from '../../core/talk/notice.ts'
import type { Writable } from 'node:stream'
import type { Entry, Event, Usage, Verdict } from '../../core/talk/entry.ts'
import type { Failure, FailureKind, Outcome } from '../../core/talk/outcome.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Clock } from '../../base/time/clock.ts'
import { summaryWords } from '../../core/talk/compaction.ts'
import { say, textFor } from '../../core/io.ts'
import { AnsiStripper, stripAnsi } from '../../base/text/ansi.ts'
import { localTime } from '../../base/time/local-time.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { groupDigits } from '../../base/text/number-words.ts'
import { retryWords, thoughtWords } from '../../chat/style/numbers.ts'
import { failureSentence } from '../../core/talk/outcome.ts'
import { exit } from '../../core/exit-codes.ts'

export type Format = 'text' | 'json' | 'stream-json'

type PrintTarget = {
  format: Format
  out: Writable & { isTTY?: boolean }
  err: Writable & { isTTY?: boolean }
  blobs: Blobs
  clock: Clock
  session: string
  project: string
  /** Whether the answer is JSON; the object that is printed then has it as a field too. */
  formed?: boolean
  /** The words of a command line that continues the same conversation, if it is not the project's usual one. */
  again?: readonly string[]
}

type AttemptReport = { agent: string; ok: boolean; failure?: Pick<Failure, 'kind' | 'message'>; ms: number }

/**
 * A failure before a turn could begin or be printed. `usage`: bad flags, settings or names; `store`: a file of termaite cannot
 * be read or written; `internal`: a mistake of termaite; `aborted`: interrupted.
 */
export type EarlyFailure = { kind: 'usage' | 'store' | 'internal' | 'aborted'; message: string }

/** Prints such a failure as the object or the last line that a program expects of every run. */
export async function printFailure(
  failure: EarlyFailure,
  { format, out, clock }: Pick<PrintTarget, 'out' | 'clock'> & { format: Format },
): Promise<void> {
  const none = { attempts: [], denials: [], usage: null, session: null, project: null }
  const line =
    format === 'json'
      ? { ok: false, agent: '', text: '', failure, ...none }
      : { type: 'end', at: clock.now(), by: 'termaite', outcome: { ok: false, failure } }
  await write(out, `${JSON.stringify(line)}\n`)
}

/** Prints one turn without a screen, its answer to stdout and all else to stderr, and returns the exit code. */
export async function printTurn(events: AsyncIterable<Event>, page: PrintTarget): Promise<number> {
  const started = page.clock.elapsed()
  const attempts: AttemptReport[] = []
  const usages: Usage[] = []
  let agent: string | undefined
  let reply = ''
  let thought: Verdict | undefined
  let outcome: Outcome | undefined
  let since = started
  for await (const event of events) {
    // Only a person who is watching needs to see the reason for a wait; a retry is reported in every case.
    if (event.type === 'waiting' && event.until === undefined) continue
    if (page.format === 'stream-json') await write(page.out, `${JSON.stringify(streamLine(event, page.clock))}\n`)
    else if (event.type === 'waiting') say(page, clean(retryWords(event, page.clock.now())))
    else if (event.type === 'summary') say(page, `${summaryWords(event)}.`)
    else sayRemark(page, event)
    if (event.type === 'usage') usages.push(event)
    // Words that termaite adds to an agent's answer, such as the list of its workers, are not the work of another agent.
    if (event.type === 'reply') [agent, reply] = [event.by === 'termaite' ? (agent ?? event.by) : event.by, event.text]
    if (event.type === 'verdict' && event.framework !== 'direct') [agent, thought] = [event.by, event]
    if (event.type === 'attempt') {
      const { kind, message } = event.failure
      attempts.push({ agent: event.by ?? '', ok: false, failure: { kind, message }, ms: event.ms })
      since = page.clock.elapsed()
      if (page.format !== 'stream-json') say(page, clean(failureSentence(event.by ?? 'an agent', event.failure)))
    }
    if (event.type === 'end') outcome = event.outcome
  }
  if (!outcome) throw new Error('a turn came without an end')
  // A goal that was not met ends with a report of the attempts; an unfinished turn, with the last text of its agent.
  const report = !outcome.ok && reports.has(outcome.failure.kind) ? reply : ''
  if (outcome.ok && agent !== undefined)
    attempts.push({ agent, ok: true, ms: Math.round(page.clock.elapsed() - since) })
  if (page.format === 'json') await printJson(page, outcome, agent ?? '', attempts, usages, report)
  if (page.format === 'text') await printText(page, outcome)
  if (page.format === 'text' && report !== '') say(page, stripAnsi(report).trimEnd())
  if (page.format !== 'stream-json')
    page.err.write(
      textFor(page.err, closing(page, outcome, agent ?? '', page.clock.elapsed() - started, usages, attempts, thought)),
    )
  return exitCode(outcome)
}

function sayRemark(page: PrintTarget, event: Event): void {
  const remark = remarkOf(event)
  if (remark !== undefined) say(page, clean(remark))
}

const reports: ReadonlySet<FailureKind> = new Set(['unmet', 'unfinished'])

export function exitCode(outcome: Outcome): number {
  if (outcome.ok) return outcome.denials?.length ? exit.refused : exit.done
  const { kind, retryAt } = outcome.failure
  if (kind === 'quota' || kind === 'busy') return exit.later
  // An unfinished turn can continue at once, unless it waits for its provider.
  if (kind === 'unfinished' && retryAt !== undefined) return exit.later
  if (kind === 'denied') return exit.refused
  return kind === 'aborted' ? exit.interrupted : exit.failed
}

async function printText(page: PrintTarget, outcome: Outcome): Promise<void> {
  let written = false
  for await (const text of pieces(page, outcome)) {
    await write(page.out, text)
    written = true
  }
  if (written) await write(page.out, '\n')
}

/** Prints one object on one line; a long answer is written piece by piece, so that it is never held whole. */
async function printJson(
  page: PrintTarget,
  outcome: Outcome,
  agent: string,
  attempts: AttemptReport[],
  usages: Usage[],
  report: string,
): Promise<void> {
  const rest = {
    failure: outcome.ok ? undefined : outcome.failure,
    attempts,
    denials: outcome.ok ? (outcome.denials ?? []) : [],
    usage: sum(usages),
    output:
      page.formed && outcome.ok && !outcome.refused && outcome.asks === undefined
        ? JSON.parse(outcome.text)
        : undefined,
    session: page.session,
    project: page.project,
  }
  const answer = pieces(page, outcome, report)
  // An unreadable answer fails here, before the object has begun.
  const first = await answer.next()
  await write(page.out, `${JSON.stringify({ ok: outcome.ok, agent }).slice(0, -1)},"text":"`)
  for (let next = first; !next.done; next = await answer.next())
    await write(page.out, JSON.stringify(next.value).slice(1, -1))
  await write(page.out, `",${JSON.stringify(rest).slice(1)}\n`)
}

/** Yields the whole answer without escape sequences and trailing space, also one that could not be kept. */
async function* pieces(page: PrintTarget, outcome: Outcome, report = ''): AsyncGenerator<string> {
  const answer = outcome.ok ? outcome : (outcome.unkept ?? { text: report })
  const stripper = new AnsiStripper()
  let text = ''
  for await (const chunk of answer.whole ? page.blobs.read(answer.whole) : [answer.text]) {
    text += stripper.push(chunk)
    const body = text.trimEnd()
    if (body !== '') yield body
    text = text.slice(body.length)
  }
  const last = (text + stripper.end()).trimEnd()
  if (last !== '') yield last
}

/** An event as a line of stream-json: a kept event is its entry, the others get the time they were seen. */
function streamLine(event: Event, clock: Clock): unknown {
  const { type, at, by, ...rest } = event as Entry
  return { type, at: at ?? clock.now(), by, ...rest }
}

const exactness = ['estimated', 'parsed', 'reported'] as const

/** The sum of all usage, which is only as exact as its least exact part. */
function sum(usages: readonly Usage[]) {
  if (usages.length === 0) return null
  const total = (key: 'input' | 'output' | 'cached' | 'cost') =>
    usages.reduce((all, usage) => all + (usage[key] ?? 0), 0)
  return {
    input: total('input'),
    output: total('output'),
    cached: total('cached'),
    cost: usages.some((usage) => usage.cost !== undefined) ? total('cost') : undefined,
    source: exactness.find((source) => usages.some((usage) => usage.source === source)),
  }
}

function closing(
  { again = [] }: PrintTarget,
  outcome: Outcome,
  agent: string,
  ms: number,
  usages: Usage[],
  attempts: AttemptReport[],
  thought: Verdict | undefined,
): string {
  if (!outcome.ok) {
    const { kind, message, retryAt } = outcome.failure
    // Each attempt is printed above on its own line: a message that only joins them adds nothing.
    const repeats = attempts.length > 0 && message === `no agent could answer: ${attempts.map(attemptWords).join('; ')}`
    if (repeats) return 'termaite: no agent could answer; `termaite doctor` looks at each of them.\n'
    const when = retryAt === undefined ? '' : `, at ${localTime(retryAt)}`
    const command = ['termaite', ...again, '-p "go on"'].join(' ')
    const next = kind === 'unfinished' ? `What was done is kept. To continue: ${command}\n` : ''
    return `termaite: ${clean(message)}${when}\n${next}`
  }
  const used = sum(usages)
  const denied = outcome.denials?.length ? refusedWords(agent, outcome.denials, outcome.rules) : ''
  const tokens = used ? ` · ${groupDigits(used.input + used.output)} tokens (${used.source})` : ''
  const cost = used?.cost === undefined ? '' : ` · $${used.cost.toFixed(4)}`
  const how = thought ? ` · ${thoughtWords(thought).join(' · ')}` : ''
  return `${denied}— ${agent} · ${(ms / 1000).toFixed(1)} s${how}${tokens}${cost}\n`
}

/** Describes the acts that an agent was not allowed, and the option that would allow them. */
function refusedWords(agent: string, denials: readonly string[], rules: readonly string[] = []): string {
  // A rule that cannot be printed exactly would allow something other than it says.
  const flags = rules.filter((rule) => clean(rule) === rule).map((rule) => `--allow ${shellWord(rule)}`)
  const what = flags.length === denials.length ? 'this' : 'a part of this'
  const remedy =
    flags.length === 0
      ? 'A rule after --allow, or another --leash, allows more'
      : `Allow ${what} with ${flags.join(' ')}, or everything with --leash all`
  return `${agent} was refused: ${denials.map(clean).join('; ')}. ${remedy}.\n`
}

const attemptWords = ({ agent, failure }: AttemptReport) => (failure ? failureSentence(agent, failure) : '')

function clean(text: string): string {
  return stripAnsi(text).replaceAll(/\s*\n\s*/g, ' ')
}

/** Waits until the chunk is written. A reader that has gone away is not an error of the turn. */
function write(out: PrintTarget['out'], chunk: string): Promise<void> {
  return new Promise((resolve) => out.write(textFor(out, chunk), () => resolve()))
}
