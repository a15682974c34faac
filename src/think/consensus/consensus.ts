import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { FrameworkDefinition } from '../framework-agent.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { AdviceRound } from './advisors.ts'
import type { ApproachPlan } from './approach-plan.ts'
import { failed } from '../../core/talk/outcome.ts'
import { frameworkAgent, giveUp } from '../framework-agent.ts'
import { checkName, resultCheck } from '../goal-check.ts'
import { pursue } from '../plan-act-check.ts'
import { clipped, firstLine, quoted } from '../prompt-text.ts'
import { note } from '../thinking-turn.ts'
import { planNotes, toApproach } from './approach-plan.ts'
import { conveneCouncil, councilSeats, SteppingBack } from './council.ts'

/**
 * Five advisors are asked at the same time, and a chair ranks their approaches. The first one is tried, the others are there for stepping
 * back.
 */
export const consensus: FrameworkDefinition = {
  asks: councilSeats,
  rounds: 2,
  agent: (resources) => frameworkAgent('consensus', resources, agree),
  advice: { asks: councilSeats, advise: adviseApproaches },
}

/** Returns the ranked approaches as advice: the caller acts on them. */
async function* adviseApproaches(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const council = yield* conveneCouncil(thinking)
  if (thinking.over) return thinking.over
  if (!council) return failed('unmet', 'no advisor answered')
  const { plan, round } = council
  if (plan.steps.length === 0) {
    const words = round.advice.map(({ role, words }) => quoted('advice', clipped(words, 4_000), role))
    return { ok: true, text: [...planNotes(plan, true), ...words].join('\n\n') }
  }
  const steps = plan.steps.map((step, at) => {
    const { name, how, check } = toApproach(step, at === 0 ? plan.dissent : '')
    return [`${at + 1}. ${name}`, how, ...(check ? [`It worked when this passes: ${checkName(check)}`] : [])].join('\n')
  })
  const dropped = plan.dropped.map(({ name, why }) => `- ${firstLine(name, 60)}: ${firstLine(why)}`)
  const text = [
    'Approaches, the best first. Take the next one when the one before it failed twice.',
    ...steps,
    ...(dropped.length > 0 ? [`Not worth trying:\n${dropped.join('\n')}`] : []),
  ]
  return { ok: true, text: text.join('\n\n') }
}

async function* agree(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const council = yield* conveneCouncil(thinking)
  if (thinking.over) return thinking.over
  if (!council) return yield* actAlone(thinking)
  const { plan, round } = council
  for (const words of planNotes(plan, proseFor(plan, round).length > 0)) yield note(words)
  if (plan.steps.length === 0) return yield* actAlone(thinking, plan, round)
  return yield* carryOut(plan, thinking)
}

async function* carryOut(
  { steps, dropped, dissent }: ApproachPlan,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Outcome> {
  const task = thinking.turn.prompt
  const approaches = steps.map((step, at) => toApproach(step, at === 0 ? dissent : ''))
  const back = new SteppingBack(thinking)
  const {
    outcome,
    by,
    failed: failures,
  } = yield* pursue({ task, check: resultCheck, approaches, another: (tried) => back.next(tried) }, thinking)
  if (thinking.over) return thinking.over
  if (by) return outcome
  const tried = failures.map(({ approach, evidence }) => ({ what: approach.name, seen: clipped(evidence, 600) }))
  const known = dropped.map(({ name, why }) => `${firstLine(name, 60)} was not tried: ${firstLine(why)}`)
  return yield* giveUp(clipped(task, 300), tried, known)
}

/** Advice that only the actor can read: a chair has already read it. */
const proseFor = ({ by }: ApproachPlan, { advice }: AdviceRound) =>
  by === undefined ? advice.filter(({ prose }) => prose) : []

/** The actor itself decides how to work; it is given the approaches that cannot work, and any unstructured advice. */
async function* actAlone(
  thinking: ThinkingTurn,
  plan?: ApproachPlan,
  round?: AdviceRound,
): AsyncGenerator<Event, Outcome> {
  const { turn, resources } = thinking
  const impossible = plan?.dropped.map(({ name, why }) => `${name}: ${why}`) ?? []
  const prose = plan && round ? proseFor(plan, round) : []
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
