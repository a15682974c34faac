import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Race } from '../../core/talk/race.ts'
import type { App, AppRecords } from '../../turn/app.ts'
import type { Io } from '../../core/io.ts'
import type { Parsed } from '../arguments/cli-command.ts'
import { readyWatchdog } from '../../base/process/watchdog.ts'
import { oneLine } from '../../base/text/table.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { exitCode } from '../output/print.ts'
import { openApp } from '../../turn/app.ts'
import { runHeadless } from '../../app/headless-turn.ts'
import { lastRace, racerNamed, refuseWithoutResult, runChoice, shownRace } from '../../race/kept-race.ts'
import { openRace, racePrompt, runRace } from '../../race/race-turn.ts'
import { placeOf } from '../../home/place.ts'
import { defined } from '../../base/defined.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { raceMarkdown, raceTable } from '../../race/race-report.ts'
import { enabledAgents, noAgentWords } from '../../settings/enabled-agents.ts'
import { readSettings } from '../../settings/settings.ts'
import { budgetIn, text } from '../arguments/turn-flags.ts'

const undoWords = 'termaite undo'
const says = {
  show: (racer: number) => `termaite race show ${racer}`,
  choose: (racer: number) => `termaite race choose ${racer}`,
  undo: undoWords,
}

/** Gives several agents the same request at once. The comparison goes to stdout, everything else to stderr. */
export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const place = placeOf(io, text(values.cwd))
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  for (const warning of settings.warnings) say(io, `termaite: ${warning}`)
  const agents = namesIn(text(values.agent))
  // With -a the words are always a request, whatever their beginning.
  if (agents.length === 0 && words.length <= 2 && (words[0] === 'show' || words[0] === 'choose')) {
    const app = await openApp(io, place, settings, { budget: budgetIn({}, []) })
    for (const warning of app.warnings) say(io, `termaite: ${warning}`)
    return words[0] === 'show' ? show(app, words[1], values.json === true) : choose(app, words[1], values.json === true)
  }
  const enabled = enabledAgents(settings)
  if (enabled.length === 0) throw new UsageError(noAgentWords(settings))
  const racing = enabled.filter(({ name }) => agents.length === 0 || agents.includes(name))
  const app = await openApp(io, place, settings, { budget: budgetIn(values, racing) })
  for (const warning of app.warnings) say(io, `termaite: ${warning}`)
  const race = await openRace(
    app,
    defined({
      request: words.join(' '),
      agents,
      check: text(values.check),
      first: values.first === true || undefined,
      apply: values.yes === true || undefined,
    }),
  )
  readyWatchdog(io.env)
  await app.conversation.settle()
  const request = { prompt: racePrompt(race.wish), signal: io.signal }
  const events = runHeadless(app, request, (on, asked) => runRace(on, asked, race, says))
  return printRace(io, events, values.json === true)
}

/** The agents in "claude,codex". */
function namesIn(given: string | undefined): string[] {
  return (given ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
}

async function show(app: AppRecords, word: string | undefined, json: boolean): Promise<number> {
  const race = await lastRace(app)
  if (json) print(app.io, JSON.stringify(word === undefined ? resultsOf(race) : racerNamed(race, word)))
  else print(app.io, stripAnsi(await shownRace(app, race, word)))
  return 0
}

async function choose(app: App, word: string | undefined, json: boolean): Promise<number> {
  const race = await lastRace(app)
  const racer = word === undefined ? race.racers.find((one) => one.racer === race.winner) : racerNamed(race, word)
  if (!racer) throw new UsageError('name the result that is brought in, for example: termaite race choose 2', 2)
  refuseWithoutResult(race, racer)
  await app.conversation.settle()
  const request = { prompt: `/race choose ${racer.racer}`, signal: app.io.signal }
  const events = runHeadless(app, request, (on, asked) => runChoice(on, asked, { race, racer, undoWords }))
  return printRace(app.io, events, json)
}

async function printRace(io: Io, events: AsyncIterable<Event>, json: boolean): Promise<number> {
  let race: Race | undefined
  let reply = ''
  let words = ''
  let outcome: Outcome | undefined
  const agents = new Map<string, string>()
  for await (const event of events) {
    const line = progress(event, agents)
    if (line !== undefined) say(io, stripAnsi(line))
    if (event.type === 'race') race = event
    if (event.type === 'reply' && event.by !== 'termaite') words = `\n\n${event.by}: ${event.text}`
    else if (event.type === 'reply') reply = event.text
    if (event.type === 'end') outcome = event.outcome
  }
  const failure = outcome?.ok ? undefined : (outcome?.failure ?? { kind: 'crash', message: 'the race has no end' })
  if (json) print(io, JSON.stringify(defined({ ok: failure === undefined, failure, ...(race ? resultsOf(race) : {}) })))
  else if (reply !== '') print(io, stripAnsi(`${asPlainText(reply, race)}${words}`))
  if (failure) say(io, `termaite: ${failure.message}`)
  return outcome ? exitCode(outcome) : 1
}

/** A terminal does not align a table in Markdown. */
function asPlainText(reply: string, race: Race | undefined): string {
  const markdown = race && raceMarkdown(race)
  return race && reply.startsWith(markdown!) ? `${raceTable(race)}${reply.slice(markdown!.length)}` : reply
}

/** A race in the form for programs. */
function resultsOf({ request, before, racers, judge, winner, chosen }: Race) {
  return defined({ request, before, racers, judge, winner, chosen })
}

/** The progress line for an event: notes, the racers' calls, and how each racer ended. `agents`: the agent of each role. */
function progress(event: Event, agents: Map<string, string>): string | undefined {
  if (event.type === 'note') return event.text
  if (event.type !== 'inner') return undefined
  const { role, event: inside } = event
  if (inside.type === 'state' && inside.by !== undefined) agents.set(role, inside.by)
  const who = `${role} (${agents.get(role) ?? inside.by ?? 'termaite'})`
  if (inside.type === 'call') return oneLine(`${who}: ${inside.tool} ${JSON.stringify(inside.input) ?? ''}`, 120)
  if (inside.type !== 'end') return undefined
  return `${who}: ${inside.outcome.ok ? 'done' : oneLine(inside.outcome.failure.message, 160)}`
}
