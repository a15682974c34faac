import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { FrameworkDefinition } from '../framework-agent.ts'
import type { Check } from '../goal-check.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { AdviceRound } from './advisors.ts'
import type { ApproachPlan } from './approach-plan.ts'
import type { ChairDecision } from './chair.ts'
import type { KnownMachine } from './machine-fit.ts'
import { frameworkAgent, giveUp } from '../framework-agent.ts'
import { pursue } from '../plan-act-check.ts'
import { clipped, firstLine, quoted } from '../prompt-text.ts'
import { note } from '../thinking-turn.ts'
import { advisorSeats, askAdvisors } from './advisors.ts'
import { makePlan, planNotes, toApproach } from './approach-plan.ts'
import { askChair, chairSeat } from './chair.ts'
import { neededPrograms } from './machine-fit.ts'

/** Five advisors are asked at the same time, a chair ranks their approaches, and one is acted on; the others are stepped back to. */
export const consensus: FrameworkDefinition = {
  asks(resources) {
    const seats = advisorSeats(resources)
    return [...seats, chairSeat(resources, seats)]
  },
  rounds: 2,
  agent: (resources) => frameworkAgent('consensus', resources, agree),
}

async function* agree(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const round = yield* askAdvisors(thinking)
  if (thinking.over) return thinking.over
  if (round.advice.length === 0) return yield* actAlone(thinking)
  const needs = round.advice.flatMap(({ proposals }) => proposals.flatMap((one) => one.needs))
  const decision = yield* askChair(round, await machineFor(needs, thinking), thinking)
  if (thinking.over) return thinking.over
  const plan = await planFor(decision, round, thinking)
  for (const words of planNotes(plan)) yield note(words)
  if (plan.steps.length === 0) return yield* actAlone(thinking, plan, round)
  return yield* carryOut(plan, thinking)
}

async function planFor(
  decision: ChairDecision,
  { advice }: AdviceRound,
  thinking: ThinkingTurn,
): Promise<ApproachPlan> {
  const proposed = advice.flatMap(({ proposals }) => proposals)
  const needs = [...decision.ranked, ...proposed].flatMap((one) => one.needs)
  return makePlan(decision, advice, await machineFor(needs, thinking))
}

/** An approach without a check of its own is judged by its result. */
const resultCheck: Check = {
  kind: 'judge',
  question: 'Does the reply, or what was changed, give what the task asks for, wholly and working?',
}

async function* carryOut(
  { steps, dropped, dissent }: ApproachPlan,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Outcome> {
  const task = thinking.turn.prompt
  const approaches = steps.map((step, at) => toApproach(step, at === 0 ? dissent : ''))
  const { outcome, by, failed } = yield* pursue({ task, check: resultCheck, approaches }, thinking)
  if (thinking.over) return thinking.over
  if (by) return outcome
  const tried = failed.map(({ approach, evidence }) => ({ what: approach.name, seen: clipped(evidence, 600) }))
  const known = dropped.map(({ name, why }) => `${firstLine(name, 60)} was not tried: ${firstLine(why)}`)
  return yield* giveUp(clipped(task, 300), tried, known)
}

/** The actor decides itself how to work, and is told which approaches cannot work and what unstructured advice there was. */
async function* actAlone(
  thinking: ThinkingTurn,
  plan?: ApproachPlan,
  round?: AdviceRound,
): AsyncGenerator<Event, Outcome> {
  const { turn, resources } = thinking
  const impossible = plan?.dropped.map(({ name, why }) => `${name}: ${why}`) ?? []
  const prose = plan?.by === undefined ? (round?.advice.filter((one) => one.prose) ?? []) : []
  const words = [
    turn.prompt,
    resources.machine.description,
    ...(impossible.length > 0
      ? [
          'Advisors were asked before you, and these approaches will not work here; find another one, or say what is missing:',
          quoted('impossible', impossible.join('\n')),
        ]
      : []),
    ...(prose.length > 0
      ? [
          'Other agents gave this advice; weigh it, then do the work:',
          ...prose.map(({ role, words }) => quoted('advice', clipped(words, 8_000), role)),
        ]
      : []),
  ]
  return yield* thinking.act(words.join('\n\n'))
}

/** The machine, with programs that its scan did not look for. */
async function machineFor(needs: readonly string[], { resources }: ThinkingTurn): Promise<KnownMachine> {
  const { spec, programs } = resources.machine
  return { spec, found: new Set(await programs?.(neededPrograms(needs))) }
}
