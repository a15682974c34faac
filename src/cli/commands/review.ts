import type { Event, Review } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Io } from '../../core/io.ts'
import type { Parsed } from '../arguments/cli-command.ts'
import { readyWatchdog } from '../../base/process/watchdog.ts'
import { oneLine } from '../../base/text/table.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { exitCode } from '../output/print.ts'
import { openApp } from '../../turn/app.ts'
import { runHeadless } from '../../app/headless-turn.ts'
import { openReview, reviewPrompt, runReview } from '../../race/review/review-turn.ts'
import { reviewText } from '../../race/review/findings.ts'
import { placeOf } from '../../home/place.ts'
import { say, UsageError } from '../../core/io.ts'
import { enabledAgents, noAgentWords } from '../../settings/enabled-agents.ts'
import { readSettings } from '../../settings/settings.ts'
import { chosenAgent, budgetIn, text } from '../arguments/turn-flags.ts'

/** Has an agent review changes. Findings go to stdout, everything else to stderr; a finding of severity high is exit code 1. */
export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io, text(values.cwd))
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  for (const warning of settings.warnings) say(io, `termaite: ${warning}`)
  const agents = enabledAgents(settings)
  if (agents.length === 0) throw new UsageError(noAgentWords(settings))
  const names = agents.map(({ name }) => name)
  const wish = { range: words[0] ?? '', ...chosenAgent(text(values.agent) ?? io.env.TERMAITE_AGENT, names) }
  const focus = text(values.focus)?.trim()
  const app = await openApp(io, place, settings, { budget: budgetIn(values, agents) })
  for (const warning of app.warnings) say(io, `termaite: ${warning}`)
  const review = await openReview(app, focus ? { ...wish, focus } : wish)
  if ('nothing' in review) {
    if (values.json)
      io.out.write(`${JSON.stringify({ ok: true, of: null, reviewer: null, findings: [], dropped: 0 })}\n`)
    say(io, review.nothing)
    return 0
  }
  readyWatchdog(io.env)
  await app.conversation.settle()
  const files = review.files.length === 1 ? 'one file' : `${review.files.length} files`
  say(io, `Reviewing ${review.scope.words} (${files}). Ctrl+C cancels.`)
  const request = { prompt: reviewPrompt(review.wish), signal: io.signal }
  const events = runHeadless(app, request, (on, asked) => runReview(on, asked, review))
  return printReview(io, events, values.json === true)
}

async function printReview(io: Io, events: AsyncIterable<Event>, json: boolean): Promise<number> {
  let found: Review | undefined
  let outcome: Outcome | undefined
  for await (const event of events) {
    const line = progress(event)
    if (line !== undefined) say(io, stripAnsi(line))
    if (event.type === 'review') found = event
    if (event.type === 'end') outcome = event.outcome
  }
  if (!outcome?.ok || !found) {
    const failure = outcome && !outcome.ok ? outcome.failure : { kind: 'crash', message: 'the review has no result' }
    if (json) io.out.write(`${JSON.stringify({ ok: false, failure })}\n`)
    say(io, `termaite: ${failure.message}`)
    return outcome && !outcome.ok ? exitCode(outcome) : 1
  }
  const { of, reviewer, findings, dropped } = found
  if (json) io.out.write(`${JSON.stringify({ ok: true, of, reviewer, findings, dropped })}\n`)
  else io.out.write(`${stripAnsi(reviewText(found, true))}\n`)
  return findings.some(({ severity }) => severity === 'high') ? 1 : 0
}

/** The progress line for an event: tool calls, notes and failed attempts of the reviewer. */
function progress(event: Event): string | undefined {
  if (event.type === 'note') return event.text
  if (event.type !== 'inner' || event.event.type !== 'call') return undefined
  const { by, tool, input } = event.event
  return oneLine(`${by}: ${tool} ${JSON.stringify(input) ?? ''}`, 120)
}
