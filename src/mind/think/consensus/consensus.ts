import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { Check } from '../check/kinds.ts'
import type { Course } from '../course.ts'
import type { Way } from '../thinker.ts'
import type { Hearing } from './advise.ts'
import type { Plan } from './plan.ts'
import type { Verdict } from './verdict.ts'
import type { Machine } from './viable.ts'
import { note } from '../course.ts'
import { pursue } from '../pac.ts'
import { thinker } from '../thinker.ts'
import { unmet } from '../unmet.ts'
import { clipped, firstLine, quoted } from '../words.ts'
import { advised } from './advise.ts'
import { decided } from './chair.ts'
import { programsIn } from './needs.ts'
import { approachOf, planOf } from './plan.ts'
import { planSaid } from './said.ts'
import { chairOf, seatsOf } from './seats.ts'

/** Five advise side by side, a chair weighs what they say, and one approach is acted on; the others are stepped back to. */
export const consensus: Way = {
  asks(minds) {
    const seats = seatsOf(minds)
    return [...seats, chairOf(minds, seats)]
  },
  rounds: 2,
  agent: (minds) => thinker('consensus', minds, agreed),
}

async function* agreed(course: Course): AsyncGenerator<Event, Outcome> {
  const hearing = yield* advised(course)
  if (course.over) return course.over
  if (hearing.advice.length === 0) return yield* alone(course)
  const advisedNeeds = hearing.advice.flatMap(({ proposals }) => proposals.flatMap(({ needs }) => needs))
  const verdict = yield* decided(hearing, await machineFor(advisedNeeds, course), course)
  if (course.over) return course.over
  const plan = await planned(verdict, hearing, course)
  for (const words of planSaid(plan)) yield note(words)
  if (plan.steps.length === 0) return yield* alone(course, plan, hearing)
  return yield* carriedOut(plan, course)
}

async function planned(verdict: Verdict, { advice }: Hearing, course: Course): Promise<Plan> {
  const proposed = advice.flatMap(({ proposals }) => proposals)
  const needs = [...verdict.ranked, ...proposed].flatMap((one) => one.needs)
  return planOf(verdict, advice, await machineFor(needs, course))
}

/** Without a check of its own an approach is judged by what it came to. */
const done: Check = {
  kind: 'judge',
  question: 'Does the reply, or what was changed, give what the task asks for, wholly and working?',
}

async function* carriedOut({ steps, dropped, dissent }: Plan, course: Course): AsyncGenerator<Event, Outcome> {
  const task = course.turn.prompt
  const approaches = steps.map((step, at) => approachOf(step, at === 0 ? dissent : ''))
  const { outcome, by, failed } = yield* pursue({ task, check: done, approaches }, course)
  if (course.over) return course.over
  if (by) return outcome
  const tried = failed.map(({ approach, evidence }) => ({ what: approach.name, seen: clipped(evidence, 600) }))
  const known = dropped.map(({ name, why }) => `${firstLine(name, 60)} was not tried: ${firstLine(why)}`)
  return yield* unmet(clipped(task, 300), tried, known)
}

/** Whoever acts goes by its own mind, and is told what would be in vain and what was said that nobody could weigh. */
async function* alone(course: Course, plan?: Plan, hearing?: Hearing): AsyncGenerator<Event, Outcome> {
  const { turn, minds } = course
  const impossible = plan?.dropped.map(({ name, why }) => `${name}: ${why}`) ?? []
  const prose = plan?.by === undefined ? (hearing?.advice.filter((one) => one.prose) ?? []) : []
  const words = [
    turn.prompt,
    minds.machine.words,
    ...(impossible.length > 0
      ? [
          'Advisors were asked before you, and these approaches will not work here; find another one, or say what is missing:',
          quoted('impossible', impossible.join('\n')),
        ]
      : []),
    ...(prose.length > 0
      ? [
          'Other agents advised this; weigh it, then do the work:',
          ...prose.map(({ role, words }) => quoted('advice', clipped(words, 8_000), role)),
        ]
      : []),
  ]
  return yield* course.act(words.join('\n\n'))
}

/** The machine, with the programs looked for that its scan did not know of. */
async function machineFor(needs: readonly string[], { minds }: Course): Promise<Machine> {
  const { spec, programs } = minds.machine
  return { spec, found: new Set(await programs?.(programsIn(needs))) }
}
