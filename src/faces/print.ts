import type { Writable } from 'node:stream'
import type { Entry, Event, Usage, Verdict } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Blobs } from '../core/talk/store.ts'
import type { Clock } from '../base/clock.ts'
import { AnsiStripper, stripAnsi } from '../base/ansi.ts'
import { moment } from '../base/moment.ts'
import { thoughtWords } from './chat/numbers.ts'

export type Format = 'text' | 'json' | 'stream-json'

export type PrintTarget = {
  format: Format
  out: Writable
  err: Writable
  blobs: Blobs
  clock: Clock
  session: string
  project: string
}

type AttemptReport = { agent: string; ok: boolean; failure?: { kind: string; message: string }; ms: number }

/** One turn without a screen: the answer to stdout, all else to stderr; gives the exit code. */
export async function printTurn(events: AsyncIterable<Event>, page: PrintTarget): Promise<number> {
  const started = page.clock.now()
  const attempts: AttemptReport[] = []
  const usages: Usage[] = []
  let agent: string | undefined
  let reply = ''
  let thought: Verdict | undefined
  let outcome: Outcome | undefined
  let since = started
  for await (const event of events) {
    if (page.format === 'stream-json') await write(page.out, `${JSON.stringify(streamed(event, page.clock))}\n`)
    else if (event.type === 'note') page.err.write(`${clean(event.text)}\n`)
    if (event.type === 'usage') usages.push(event)
    if (event.type === 'reply') [agent, reply] = [event.by, event.text]
    if (event.type === 'verdict' && event.framework !== 'direct') [agent, thought] = [event.by, event]
    if (event.type === 'attempt') {
      const { kind, message } = event.failure
      attempts.push({ agent: event.by ?? '', ok: false, failure: { kind, message }, ms: event.ms })
      since = page.clock.now()
      if (page.format !== 'stream-json') page.err.write(`${event.by}: ${kind}: ${clean(message)}\n`)
    }
    if (event.type === 'end') outcome = event.outcome
  }
  if (!outcome) throw new Error('a turn came without an end')
  // What was tried in vain is the turn's last word.
  const report = !outcome.ok && outcome.failure.kind === 'unmet' ? reply : ''
  if (outcome.ok && agent !== undefined) attempts.push({ agent, ok: true, ms: page.clock.now() - since })
  if (page.format === 'json') await printJson(page, outcome, agent ?? '', attempts, usages, report)
  if (page.format === 'text') await printText(page, outcome)
  if (page.format === 'text' && report !== '') page.err.write(`${stripAnsi(report).trimEnd()}\n`)
  if (page.format !== 'stream-json')
    page.err.write(closing(outcome, agent ?? '', page.clock.now() - started, usages, attempts, thought))
  return exitCode(outcome)
}

export function exitCode(outcome: Outcome): number {
  if (outcome.ok) return outcome.denials?.length ? 77 : 0
  const { kind } = outcome.failure
  if (kind === 'quota' || kind === 'busy') return 75
  if (kind === 'denied') return 77
  return kind === 'aborted' ? 130 : 1
}

async function printText(page: PrintTarget, outcome: Outcome): Promise<void> {
  let written = false
  for await (const text of pieces(page, outcome)) {
    await write(page.out, text)
    written = true
  }
  if (written) await write(page.out, '\n')
}

/** One object on one line; a long answer goes into its string piece by piece. */
async function printJson(
  page: PrintTarget,
  outcome: Outcome,
  agent: string,
  attempts: AttemptReport[],
  usages: Usage[],
  report: string,
): Promise<void> {
  const rest = {
    ...(outcome.ok ? {} : { failure: outcome.failure }),
    attempts,
    denials: outcome.ok ? (outcome.denials ?? []) : [],
    usage: sum(usages),
    session: page.session,
    project: page.project,
  }
  await write(page.out, `${JSON.stringify({ ok: outcome.ok, agent }).slice(0, -1)},"text":"`)
  for await (const text of pieces(page, outcome, report)) await write(page.out, JSON.stringify(text).slice(1, -1))
  await write(page.out, `",${JSON.stringify(rest).slice(1)}\n`)
}

/** The whole answer, without escape sequences and without room at its end; one that could not be kept is an answer too. */
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

/** As an event happens: a kept one is its entry, the others get the time they were seen. */
function streamed(event: Event, clock: Clock): unknown {
  const { type, at, by, ...rest } = event as Entry
  return { type, at: at ?? clock.now(), ...(by === undefined ? {} : { by }), ...rest }
}

const exactness = ['estimated', 'parsed', 'reported'] as const

/** The sum is only as exact as its least exact part. */
function sum(usages: readonly Usage[]) {
  if (usages.length === 0) return null
  const total = (key: 'input' | 'output' | 'cached' | 'cost') =>
    usages.reduce((all, usage) => all + (usage[key] ?? 0), 0)
  return {
    input: total('input'),
    output: total('output'),
    cached: total('cached'),
    ...(usages.some((usage) => usage.cost !== undefined) ? { cost: total('cost') } : {}),
    source: exactness.find((source) => usages.some((usage) => usage.source === source)),
  }
}

function closing(
  outcome: Outcome,
  agent: string,
  ms: number,
  usages: Usage[],
  attempts: AttemptReport[],
  thought: Verdict | undefined,
): string {
  if (!outcome.ok) {
    const { message, retryAt } = outcome.failure
    // Each attempt stands above in a line of its own: a message that only strings them together adds nothing.
    const told = attempts.length > 0 && message === `no agent could answer: ${attempts.map(toldAs).join('; ')}`
    if (told) return 'termaite: no agent could answer; `termaite doctor` looks at each of them.\n'
    return `termaite: ${clean(message)}${retryAt === undefined ? '' : `, at ${moment(retryAt)}`}\n`
  }
  const used = sum(usages)
  const denied = outcome.denials?.length
    ? `${agent} was refused: ${outcome.denials.map(clean).join('; ')}. Allow more with --leash edit or --leash all.\n`
    : ''
  const tokens = used ? ` · ${thousands(used.input + used.output)} tokens (${used.source})` : ''
  const cost = used?.cost === undefined ? '' : ` · $${used.cost.toFixed(4)}`
  const how = thought ? ` · ${thoughtWords(thought).join(' · ')}` : ''
  return `${denied}— ${agent} · ${(ms / 1000).toFixed(1)} s${how}${tokens}${cost}\n`
}

const toldAs = ({ agent, failure }: AttemptReport) => `${agent}: ${failure?.kind}: ${failure?.message}`

/** By hand: the first use of the system's number formats costs a start 20 ms. */
function thousands(value: number): string {
  return String(value).replaceAll(/(?<=\d)(?=(\d{3})+$)/g, ',')
}

function clean(text: string): string {
  return stripAnsi(text).replaceAll(/\s*\n\s*/g, ' ')
}

/** Waits until it is out of our hands. A reader that went away takes nothing more, and is no error of the turn. */
function write(out: Writable, chunk: string): Promise<void> {
  return new Promise((resolve) => out.write(chunk, () => resolve()))
}
