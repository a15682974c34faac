import type { Failure } from '../../core/talk/outcome.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { StepLimits } from '../../core/work/budget.ts'
import { consentOptions } from '../../core/talk/consent.ts'
import { unfinished } from '../../core/talk/outcome.ts'
import { stepsSpent, usualSteps } from '../../core/work/budget.ts'

/**
 * Decides before each step of a turn whether the turn may continue. `--max-steps` always applies. Without it, an unwatched turn has a
 * fixed number of steps, and a person who watches is asked from time to time.
 */
export class StepCount {
  #turn: Turn
  #limits: StepLimits
  #most: number
  #asks: boolean

  constructor(turn: Turn, limits: StepLimits = usualSteps, most = Infinity) {
    this.#turn = turn
    this.#limits = limits
    this.#most = most
    this.#asks = turn.attended === true && turn.budget.step === undefined
  }

  /** Why the turn stops before this step, if it does. */
  async stops(step: number): Promise<Failure | undefined> {
    const { budget, attended } = this.#turn
    const spent = budget.step?.()
    if (spent) return spent
    if (step > this.#most) return stepsSpent(this.#most, 'the limit of this agent')
    if (budget.step) return undefined
    const { most, askEvery } = this.#limits
    if (!attended) return step > most ? stepsSpent(most, '--max-steps, or "maxSteps" in the settings,') : undefined
    return this.#asks && step > 1 && (step - 1) % askEvery === 0 ? this.#ask(step - 1) : undefined
  }

  async #ask(made: number): Promise<Failure | undefined> {
    const { ask, signal } = this.#turn
    const [pick] = (await ask(goOnQuestion(made, this.#limits.askEvery), signal)) ?? []
    if (pick === 'rest') this.#asks = false
    if (pick === 'on' || pick === 'rest') return undefined
    return unfinished(
      'person',
      pick === 'stop'
        ? `you stopped it after ${made} steps`
        : `nobody answered whether it should go on after ${made} steps`,
    )
  }
}

/** The card for a long turn. Escape stops the turn, which loses nothing and costs nothing. */
export function goOnQuestion(made: number, more: number): Question {
  return {
    about: 'choice',
    text: `The agent has worked ${made} steps on this request. Should it go on?`,
    from: [],
    options: consentOptions({
      once: { id: 'on', label: `Yes, and ask again after ${more} more steps` },
      always: { id: 'rest', label: 'Yes, until this request is done' },
      no: { id: 'stop', label: 'No, stop here and keep what is done' },
    }),
  }
}
