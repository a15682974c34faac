import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { TriedWay } from '../framework-agent.ts'
import type { Check } from '../goal-check.ts'
import type { Approach, FailedApproach } from '../plan-act-check.ts'
import type { Resources, RoleAssignment } from '../resources.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { AdviceRound } from './advisors.ts'
import type { ApproachPlan } from './approach-plan.ts'
import type { KnownMachine } from './machine-fit.ts'
import { pursue } from '../plan-act-check.ts'
import { clipped } from '../prompt-text.ts'
import { note } from '../thinking-turn.ts'
import { advisorSeats, askAdvisors, isSameApproach } from './advisors.ts'
import { makePlan, planNotes, toApproach } from './approach-plan.ts'
import { askChair, chairSeat } from './chair.ts'
import { neededPrograms } from './machine-fit.ts'

/** The agents of the council: five advisors and their chair. */
export function councilSeats(resources: Pick<Resources, 'readers' | 'assigned'>): RoleAssignment[] {
  const seats = advisorSeats(resources)
  return [...seats, chairSeat(resources, seats)]
}

/** The answers of the council, and the plan based on them. */
type Council = { round: AdviceRound; plan: ApproachPlan }

/** Asks the five advisors and the chair; undefined if no advisor answered. `failed`: approaches that must not be proposed again. */
export async function* conveneCouncil(
  thinking: ThinkingTurn,
  task = thinking.turn.prompt,
  failed: readonly FailedApproach[] = [],
): AsyncGenerator<Event, Council | undefined> {
  const asked = { task, failed }
  const round = yield* askAdvisors(asked, thinking)
  if (thinking.over || round.advice.length === 0) return undefined
  const proposed = round.advice.flatMap(({ proposals }) => proposals)
  const needs = proposed.flatMap((one) => one.needs)
  const decision = yield* askChair(asked, round, await machineFor(needs, thinking), thinking)
  if (thinking.over) return undefined
  const all = [...decision.ranked, ...proposed].flatMap((one) => one.needs)
  const fresh = { ...decision, ranked: decision.ranked.filter(({ name }) => !wasTried(name, failed)) }
  const plan = makePlan(fresh, round.advice, await machineFor(all, thinking))
  const steps = plan.steps.filter(({ name }) => !wasTried(name, failed))
  return { round, plan: { ...plan, steps } }
}

/** The name of an approach is short; a longer one is a sentence, in which any tool may be mentioned. */
const longestName = 5

const wasTried = (name: string, failed: readonly FailedApproach[]) =>
  failed.some(({ approach: { name: tried } }) =>
    tried.split(' ').length > longestName ? tried === name : isSameApproach(tried, name),
  )

/** The machine's facts, including programs that its scan did not look for. */
async function machineFor(needs: readonly string[], { resources }: ThinkingTurn): Promise<KnownMachine> {
  const { spec, programs } = resources.machine
  return { spec, found: new Set(await programs?.(neededPrograms(needs))) }
}

/**
 * The next step for a framework without further approaches of its own: the council is convened again, once for each goal, with the list
 * of failures, and its approaches are used one after another.
 */
export class SteppingBack {
  #thinking: ThinkingTurn
  #task: string
  #left: Approach[] | undefined

  constructor(thinking: ThinkingTurn, task = thinking.turn.prompt) {
    this.#thinking = thinking
    this.#task = task
  }

  /** The next approach that was not tried; undefined if all were tried, or the person does not want the council. */
  async *next(failed: readonly FailedApproach[]): AsyncGenerator<Event, Approach | undefined> {
    this.#left ??= yield* this.#convene(failed)
    return this.#left.shift()
  }

  /**
   * Tries this approach and then the council's others. Returns the outcome of the one that reached the goal, otherwise the failed
   * attempts. `check` is for approaches without their own check; with `decides` it replaces theirs.
   */
  async *pursue(
    first: Approach,
    failed: readonly FailedApproach[],
    { check, decides = false }: { check: Check; decides?: boolean },
  ): AsyncGenerator<Event, { outcome: Outcome } | { tried: TriedWay[] }> {
    const thinking = this.#thinking
    const plain = (approach: Approach): Approach => {
      const { check: _, ...rest } = approach
      return decides ? rest : approach
    }
    const next = (more: readonly FailedApproach[]) => this.next([...failed, ...more])
    const goal = {
      task: this.#task,
      check,
      approaches: [plain(first)],
      async *another(more: readonly FailedApproach[]): AsyncGenerator<Event, Approach | undefined> {
        const approach = yield* next(more)
        return approach && plain(approach)
      },
    }
    const pursuit = yield* pursue(goal, thinking)
    const over = thinking.over ?? (pursuit.by && pursuit.outcome)
    if (over) return { outcome: over }
    return {
      tried: pursuit.failed.map(({ approach, evidence }) => ({ what: approach.name, seen: clipped(evidence, 600) })),
    }
  }

  async *#convene(failed: readonly FailedApproach[]): AsyncGenerator<Event, Approach[]> {
    const thinking = this.#thinking
    if (!(yield* thinking.mayConvene(councilSeats(thinking.resources)))) return []
    yield note('every known approach failed; asking the council for others')
    const council = yield* conveneCouncil(thinking, this.#task, failed)
    if (!council) return []
    const { steps, dissent } = council.plan
    if (steps.length > 0) for (const words of planNotes(council.plan)) yield note(words)
    else yield note('the council knows no other approach')
    return steps.map((step, at) => toApproach(step, at === 0 ? dissent : ''))
  }
}
