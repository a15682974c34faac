import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Check } from './check/kinds.ts'
import type { Seen } from './check/seen.ts'
import type { Course } from './course.ts'
import { failed } from '../../core/talk/outcome.ts'
import { checked } from './check/check.ts'
import { note } from './course.ts'
import { takenBack } from './take-back.ts'
import { clipped, firstLine, quoted } from './words.ts'

/** One way to reach something; its own check, where it has one. */
export type Approach = { name: string; how: string; check?: Check }

/** What is to be reached, by the approaches in the order they are tried; `another`: one more where all of them failed; `then`: what comes when none is left, in words. */
export type Goal = {
  task: string
  check: Check
  approaches: readonly Approach[]
  another?(failed: readonly Failed[]): AsyncGenerator<Event, Approach | undefined>
  then?: string
}

/** An approach that failed twice, what was seen then, and what became of its changes. */
export type Failed = { approach: Approach; evidence: string; changes?: string }

/**
 * How it went: reached, or not by any approach, or `refused`: done, and nobody allowed a look. `outcome` is of whoever
 * acted last; without `seen` the turn ended before anything could be seen.
 */
export type Pursuit = { outcome: Outcome; by?: Approach; seen?: Seen; failed: Failed[] }

/** So much of a task is said again; where a history was shortened meanwhile it would be lost. */
const longestReminder = 2_000

/** So often in a row one approach may fail. */
const mostFailures = 2

/** Plan, act, check: an approach that failed twice in a row is left for the best one that was not tried, and never taken again. */
export async function* pursue(goal: Goal, course: Course): AsyncGenerator<Event, Pursuit> {
  const failures: Failed[] = []
  const left = [...goal.approaches]
  let last: Outcome | undefined
  for (let approach = left.shift(); approach;) {
    const mark = await course.minds.rewind?.mark().catch(() => undefined)
    const tried = yield* tryApproach(goal, approach, failures, mark, course)
    last = tried.outcome
    course.passed = tried.seen && !tried.seen.refused ? tried.seen.passed : undefined
    if (!tried.seen || tried.seen.passed || tried.seen.refused) return { ...tried, by: approach, failed: failures }
    const failure: Failed = { approach, evidence: tried.seen.evidence }
    const next: Approach | undefined = left.shift() ?? (goal.another && (yield* goal.another([...failures, failure])))
    if (course.over) return { outcome: course.over, failed: failures }
    const why = firstLine(tried.seen.evidence)
    yield note(
      `${approach.name} failed ${mostFailures} times (${why}); ${next ? `stepping back to ${next.name}` : (goal.then ?? 'there is nothing left to try')}`,
    )
    const changes = mark === undefined ? undefined : yield* takenBack(approach.name, mark, course)
    failures.push({ ...failure, ...(changes === undefined ? {} : { changes }) })
    if (course.over) return { outcome: course.over, failed: failures }
    approach = next
  }
  return { outcome: last ?? failed('unmet', 'there was nothing to try'), failed: failures }
}

/** One approach until it passes, or fails twice. */
async function* tryApproach(
  goal: Goal,
  approach: Approach,
  failures: readonly Failed[],
  mark: string | undefined,
  course: Course,
): AsyncGenerator<Event, { outcome: Outcome; seen?: Seen }> {
  const check = approach.check ?? goal.check
  let seen: Seen | undefined
  for (let time = 1; ; time++) {
    yield course.phase(`${approach.name}${time > 1 ? ', once more' : ''}`)
    const outcome = yield* course.act(actWords(goal.task, approach, failures, seen, course))
    // Whoever could not act at all, or wants to know something first, says nothing about the approach.
    if (!outcome.ok || outcome.asks !== undefined) return { outcome }
    const patch =
      mark === undefined ? undefined : (await course.minds.rewind!.since(mark).catch(() => undefined))?.patch
    const done = { task: goal.task, reply: outcome.text, ...(patch === undefined ? {} : { patch }) }
    seen = yield* checked(check, done, course)
    if (course.over) return { outcome: course.over }
    if (seen.refused) yield note(`not checked: ${firstLine(seen.evidence)}`)
    if (seen.passed || seen.refused || time === mostFailures) return { outcome, seen }
    yield note(`the check failed: ${firstLine(seen.evidence)}; ${approach.name} is tried once more`)
  }
}

/** Everything is told once: the pieces before are history to whoever takes the next, who is only reminded of a long task. */
export function actWords(
  task: string,
  { name, how }: Approach,
  failures: readonly Failed[],
  seen: Seen | undefined,
  { minds }: Course,
): string {
  const again = `The task stands:\n${clipped(task, longestReminder)}`
  if (seen) {
    const mend = 'This was done, and the check failed. Find out why, and mend it:'
    return [again, mend, quoted('check', seen.evidence)].join('\n\n')
  }
  const before = failures.map(({ approach, evidence, changes }) =>
    quoted('failed', [approach.name, clipped(evidence, 2_000), changes ?? ''].join('\n').trim()),
  )
  return [
    ...(before.length > 0 ? [again] : [task, minds.machine.words]),
    ...(before.length > 0 ? ['These were tried, and failed; do not try them again:', ...before] : []),
    quoted('approach', `${name}\n${how}`.trim()),
    'The approach is what other agents advise: weigh it, then do the work that way, and say what you did.',
  ].join('\n\n')
}
