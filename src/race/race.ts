import type { Event } from '../core/talk/entry.ts'
import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { Race, RaceCheck, Racer } from '../core/talk/race.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { ProjectTree } from '../hub/model/tasks/project-copy.ts'
import type { Resources } from '../think/resources.ts'
import type { ChoiceParts, RaceEnd } from './race-choice.ts'
import type { RacerParts, Turnstile } from './racer-run.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'
import { merge } from '../base/merge.ts'
import { list } from '../base/text/table.ts'
import { relay } from '../base/relay.ts'
import { failed, failureSentence } from '../core/talk/outcome.ts'
import { note } from '../think/thinking-turn.ts'
import { chosenResult } from './race-choice.ts'
import { askRaceJudge } from './race-judge.ts'
import { allPass, checkWords, known, reportText } from './race-report.ts'
import { RacerRun } from './racer-run.ts'

/** The functions that a race needs, and the person's choices for it. */
export type RaceParts = Omit<RacerParts, 'oneCheckAtATime'> &
  ChoiceParts & {
    /** The request for every agent. */
    request: string
    /** The agents that race, in the order of their numbers. */
    agents: readonly string[]
    /** Whether the others are stopped as soon as one result is right. */
    first?: boolean
    /** The files of the project itself: `changed` names the files that differ from their state at a mark. */
    tree?: ProjectTree
    /** The agents that can judge, or the reason why there is no such agent. */
    readers(): Promise<Resources | { why: string }>
    /** Hides secrets in the comparison. */
    mask(text: string): string
    random(): number
  }

/** An agent whose turn is a race: several agents get the same request at once, and one of the results is joined into the project. */
export function raceAgent(parts: RaceParts): Agent {
  return {
    name: 'termaite',
    traits: { window: Infinity, memory: 'none', talks: true, steers: false },
    async *turn(turn) {
      const runs = parts.agents.map((agent, at) => new RacerRun(at + 1, agent))
      let chosen: number | undefined
      let outcome: Outcome
      try {
        // The comparison quotes agents of several vendors, and every agent of a later turn gets it.
        const ended = yield* relay(raced(parts, runs, turn), (event) =>
          event.type === 'reply' && event.by === undefined ? { ...event, text: parts.mask(event.text) } : event,
        )
        chosen = ended.chosen
        outcome = ended.outcome.ok ? { ...ended.outcome, text: parts.mask(ended.outcome.text) } : ended.outcome
      } catch (error) {
        outcome = failed('crash', `the race failed unexpectedly: ${messageOf(error)}`)
      } finally {
        const left = turn.signal.aborted ? [] : runs.filter((run) => run.hasResult && run.racer !== chosen)
        await Promise.all(runs.map((run) => run.leave(left.includes(run))))
      }
      yield { type: 'end', outcome }
    },
    async close() {},
  }
}

const cancelled: RaceEnd = { outcome: failed('aborted', 'cancelled') }

async function* raced(parts: RaceParts, runs: readonly RacerRun[], turn: Turn): AsyncGenerator<Event, RaceEnd> {
  const times = runs.length
  yield note(
    `${times} agents take this request at once (${runs.map(({ racer, agent }) => `${racer} ${agent}`).join(', ')}), each in a copy of the project: about ${times} times the tokens and the price of one turn.`,
  )
  const before = yield* untouched(parts, turn)
  if (turn.signal.aborted) return cancelled
  const mark = await parts.tree?.mark()
  const enough = new AbortController()
  const racing = { ...parts, oneCheckAtATime: turnstile() }
  yield* merge(
    runs.map(async function* (run) {
      yield* run.run({ ...turn, prompt: parts.request }, enough.signal, racing)
      if (parts.first && run.isRight(before)) enough.abort()
    }),
  )
  if (turn.signal.aborted) return cancelled
  yield* strayNotes(parts, runs, mark)
  const race = yield* compared(parts, runs, before, turn)
  if (turn.signal.aborted) return cancelled
  // The results are stored before anybody chooses: they can be chosen later, whatever happens to this process.
  yield race
  yield* judgements(runs, before)
  if (!runs.some(({ outcome }) => outcome?.ok)) return { outcome: yield* withoutResult(race, runs, turn) }
  return yield* chosenResult(parts, race, runs, turn)
}

/** Says what happened outside of the copies: in the project itself, and in the repository that the copies share with it. */
async function* strayNotes(
  { tree }: RaceParts,
  runs: readonly RacerRun[],
  mark: string | undefined,
): AsyncGenerator<Event> {
  const changed = mark === undefined ? [] : ((await tree?.changed(mark).catch(() => [])) ?? [])
  if (changed.length > 0)
    yield note(
      `While the agents worked in their copies, these files of the project itself changed: ${list(changed, 12)}. If you did not change them, an agent did, which no sandbox kept in its copy.`,
    )
  for (const { agent, changes } of runs) for (const text of changes?.notes ?? []) yield note(`${agent}: ${text}`)
}

/** Records for every agent that finished whether its result is right, because agents are measured by that. */
function* judgements(runs: readonly RacerRun[], before: readonly RaceCheck[]): Generator<Event> {
  for (const run of runs) {
    const { agent, state, checks, ms, cost } = run.result
    if (state !== 'done' || allPass(checks) === undefined) continue
    yield defined<Event>({ type: 'judgement', source: 'race', agent, good: run.isRight(before), ms, cost })
  }
}

/** Makes a turnstile, which lets in one run after another. */
function turnstile(): Turnstile {
  let last: Promise<void> = Promise.resolve()
  return async () => {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    await before
    return resolve
  }
}

/** Error messages of shells, Node.js, Python and others about a program or a package that is not installed. */
const lacksSomething =
  /exited with 127|command not found|: not found|cannot find (?:module|package)|no module named|modulenotfounderror|cannot find package|could not find gem/i

/** Runs the checks in an unchanged copy, to find out which failed before. */
async function* untouched(parts: RaceParts, turn: Turn): AsyncGenerator<Event, RaceCheck[]> {
  const { checks, copies, check } = parts
  if (checks.length === 0) {
    yield note(
      'termaite found no tests and no build in this project, so only a judge compares the results. A command of yours can check them: --check "…"',
    )
    return []
  }
  const role = 'untouched copy'
  const inner = (event: Event): Event => ({ type: 'inner', role, event: { by: 'termaite', ...event } })
  yield inner({ type: 'state', state: 'starting' })
  const copy = await copies.open(turn.signal)
  const before: RaceCheck[] = []
  try {
    const own: Turn = { ...turn, cwd: copy.cwd, leash: 'edit' }
    for (const command of checks) {
      if (turn.signal.aborted) break
      before.push(yield* relay(check(command, copy, own), inner))
    }
  } finally {
    await copy.drop()
  }
  yield inner({ type: 'end', outcome: { ok: true, text: before.map(checkWords).join('; ') } })
  if (turn.signal.aborted) return before
  yield note(`Before any change: ${before.map(checkWords).join('; ')}.`)
  if (before.some(({ passed, evidence }) => !passed && lacksSomething.test(evidence)))
    yield note(
      `A check may fail only because something is missing in the copy. ${copy.lacks} A command such as "npm ci" prepares every copy: "crew": {"setup": "npm ci"} in the settings of termaite.`,
    )
  return before
}

/** Has the results judged, and finds the best one. */
async function* compared(
  parts: RaceParts,
  runs: readonly RacerRun[],
  before: readonly RaceCheck[],
  turn: Turn,
): AsyncGenerator<Event, Race> {
  const racers = runs.map(({ result }) => result)
  for (const [at, one] of racers.entries()) {
    const twin = racers.slice(0, at).find(({ tree }) => tree !== undefined && tree === one.tree)
    if (twin && runs[at]!.hasResult) one.sameAs = twin.sameAs ?? twin.racer
  }
  const distinct = runs.filter((run, at) => run.hasResult && racers[at]!.sameAs === undefined)
  let judge: string | undefined
  if (distinct.length > 1) {
    const readers = await parts.readers()
    if ('why' in readers) yield note(`The results were not judged: ${readers.why}.`)
    else {
      const results = distinct.map(({ racer, changes, checks }) => ({ racer, patch: changes!.patch, checks }))
      const about = { before, racing: parts.agents, random: () => parts.random() }
      const judged = yield* askRaceJudge(results, about, { ...turn, prompt: parts.request }, readers)
      judge = judged?.by
      for (const [at, { racer, why }] of (judged?.places ?? []).entries())
        for (const one of racers)
          if (one.racer === racer || one.sameAs === racer) one.judged = { place: at + 1, why: one.sameAs ? '' : why }
    }
  }
  const base = runs.find(({ changes }) => changes)?.changes?.base
  const race: Race = defined({ type: 'race', request: parts.request, base, before: [...before], racers, judge })
  return defined({ ...race, winner: winnerOf(race, runs) })
}

/** The best result, by its checks and then by the judge; undefined if no result is right, or if two of them are equally good. */
function winnerOf({ racers, before }: Race, runs: readonly RacerRun[]): number | undefined {
  const able = racers.filter(({ strays }, at) => runs[at]!.hasResult && !strays)
  const checked = known(before).length > 0
  const right = able.filter(({ checks }) => !checked || allPass(checks) === true)
  const [best, next] = right.toSorted((a, b) => placeOf(a) - placeOf(b))
  if (!best || !next) return best?.racer
  // If nobody judged them, the two results differ only in a way that a person has to judge, so the person chooses.
  return placeOf(best) < placeOf(next) || next.sameAs === best.racer ? best.racer : undefined
}

const placeOf = ({ judged }: Racer) => judged?.place ?? Number.MAX_SAFE_INTEGER

/** A race in which no agent finished. If all of them failed only for lack of time or quota, so does the race. */
async function* withoutResult(race: Race, runs: readonly RacerRun[], turn: Turn): AsyncGenerator<Event, Outcome> {
  yield { type: 'reply', text: reportText(race) }
  const failures = runs.flatMap(({ failure, agent }) => (failure ? [{ agent, failure }] : []))
  const message = `no agent has a result: ${failures.map(({ agent, failure }) => failureSentence(agent, failure)).join('; ')}`
  const all = (...kinds: Failure['kind'][]) => failures.every(({ failure }) => kinds.includes(failure.kind))
  if (all('quota', 'busy')) {
    const times = failures.flatMap(({ failure }) => failure.retryAt ?? [])
    return failed(all('busy') ? 'busy' : 'quota', message, times.length > 0 ? Math.min(...times) : undefined)
  }
  if (turn.signal.aborted) return cancelled.outcome
  return failed(all('denied') ? 'denied' : 'unmet', message)
}
