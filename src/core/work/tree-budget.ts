import type { Clock } from '../../base/time/clock.ts'
import type { BudgetAmounts, Event } from '../talk/entry.ts'
import type { Failure } from '../talk/outcome.ts'
import type { Ask } from '../talk/question.ts'
import type { Budget, Spent } from './budget.ts'
import { defined } from '../../base/defined.ts'
import { unfinished } from '../talk/outcome.ts'
import { addUsage, bothBudgets, budget } from './budget.ts'

/** The limits of one turn of a coordinator and all its workers together. `steps` are those of the workers; `cost` is in dollars. */
export type TreeLimits = { workers: number; steps: number; tokens: number; cost?: number; minutes: number }

/**
 * The limits if the settings contain none. Cost has no limit here, because it cannot be enforced for an agent that does not report its
 * price.
 */
export const usualLimits: TreeLimits = { workers: 20, steps: 500, tokens: 10_000_000, minutes: 120 }

/** The share of the tokens, the cost and the time that the workers may use: the rest is for the coordinator's own answer. */
const workersPart = 0.9

/** `free`: an answer without a price costs nothing, because a model on this machine gave it. */
export type HeldLimits = TreeLimits & { free?: boolean }

/** The parts of a budget for a coordinator and its workers; `told` is called with each change. */
type TreeParts = {
  limits: HeldLimits
  /** The budget of the coordinator's turn, which applies to the whole tree too. */
  turn: Budget
  clock: Clock
  told(event: Event): void
}

/**
 * The budget of a coordinator and all its workers. It is enforced here, whatever the agents do: each call that would exceed a limit is
 * refused before it is made, and a signal limits the time of another program's agent, whose calls are not visible.
 */
export class TreeBudget {
  /** The budget of the coordinator itself. */
  readonly lead: Budget
  /** The budget that all workers share. */
  readonly workers: Budget
  /** Each aborts once a time limit is reached: that of the turn, or the earlier one of the workers. The reason is a Failure. */
  readonly over: AbortSignal
  readonly workersOver: AbortSignal
  #parts: TreeParts
  #used = { workers: 0, steps: 0 }
  #spent: Spent = { tokens: 0 }
  #closed = new AbortController()
  /** The time before `#since`; time stops while a question waits for the person. */
  #passed = 0
  #since: number
  #questions = 0
  #answered = Promise.withResolvers<void>()

  constructor(parts: TreeParts) {
    const { limits, turn, clock } = parts
    const { tokens, cost, minutes } = limits
    this.#parts = parts
    this.#since = clock.elapsed()
    const setting = (name: string) => `coordinator.${name} in the settings`
    const share = ', nine tenths of which are for the workers,'
    const names = { tokens: setting('tokens'), cost: setting('cost'), instead: setting('tokens') }
    const workerNames = { ...names, tokens: `${names.tokens}${share}`, cost: `${names.cost}${share}` }
    const all = budget(defined({ tokens, cost }), names)
    const part = budget(
      defined({ tokens: Math.floor(tokens * workersPart), cost: cost && cost * workersPart }),
      workerNames,
    )
    this.over = this.#limit(
      minutes * 60_000,
      unfinished(
        'time',
        `this turn has used the ${amountOf(minutes, 'minute')} that it may take; raise ${setting('minutes')} to allow more`,
      ),
    )
    this.workersOver = this.#limit(
      minutes * 60_000 * workersPart,
      unfinished(
        'time',
        `the workers have used their time, which is nine tenths of the ${amountOf(minutes, 'minute')} of this turn; raise ${setting('minutes')} to allow more`,
      ),
    )
    this.lead = this.#watched(bothBudgets(all, turn), this.over)
    const { step: _, ...outer } = turn
    const workers = bothBudgets(part, bothBudgets(all, outer))
    this.workers = { ...this.#watched(workers, this.workersOver), step: () => this.#step() }
  }

  /** Why no further worker with a task of about this many tokens can be sent; undefined if it can. */
  refuses(tokens: number): Failure | undefined {
    return this.#used.steps >= this.#parts.limits.steps ? this.#stepsSpent() : this.workers.refuse(tokens)
  }

  /** Counts workers that were sent. */
  sent(workers: number): void {
    this.#used.workers += workers
    this.tell()
  }

  /** The amounts used now. */
  amounts(): { used: BudgetAmounts; allowed: Partial<BudgetAmounts> } {
    const { minutes, free: _, ...limits } = this.#parts.limits
    const { tokens, cost } = this.#spent
    return {
      used: defined({ ...this.#used, tokens, cost, ms: this.#ms() }),
      allowed: { ...limits, ms: minutes * 60_000 },
    }
  }

  /** Reports the amounts used now. */
  tell(): void {
    this.#parts.told({ type: 'budget', ...this.amounts(), by: 'termaite' })
  }

  /** Asks a person, who may take any time: the clock of the turn stops meanwhile. */
  asking(ask: Ask): Ask {
    return async (...question) => {
      if (this.#questions === 0) {
        this.#passed = this.#ms()
        this.#answered = Promise.withResolvers()
      }
      this.#questions++
      try {
        return await ask(...question)
      } finally {
        if (--this.#questions === 0) {
          this.#since = this.#parts.clock.elapsed()
          this.#answered.resolve()
        }
      }
    }
  }

  /** Stops the timers. */
  close(): void {
    this.#closed.abort()
  }

  #ms(): number {
    return this.#questions > 0 ? this.#passed : this.#passed + this.#parts.clock.elapsed() - this.#since
  }

  /** Returns a signal that aborts with the failure once this much time has passed. */
  #limit(ms: number, failure: Failure): AbortSignal {
    const over = new AbortController()
    const closed = this.#closed.signal
    const wait = async () => {
      for (let left = ms; left > 0 && !closed.aborted; left = ms - this.#ms()) {
        await this.#parts.clock.sleep(left, closed)
        if (this.#questions > 0) await this.#answered.promise
      }
      if (!closed.aborted) over.abort(failure)
    }
    // The timer is not awaited: it only aborts work that is still running, and it ends with the turn.
    void wait()
    return over.signal
  }

  /** Wraps a budget: it refuses every call once the time is over, and reports the usage. */
  #watched(inner: Budget, over: AbortSignal): Budget {
    const late = () => (over.aborted ? (over.reason as Failure) : undefined)
    const watch = (within: Budget): Budget => ({
      ...within,
      refuse: (tokens) => late() ?? within.refuse(tokens),
      reserve: (tokens) => {
        const failure = late()
        if (failure) return { failure }
        const held = within.reserve(tokens)
        return held.failure ? held : { ...held, budget: watch(held.budget) }
      },
      spend: (reported) => {
        const usage = this.#parts.limits.free ? { ...reported, cost: reported.cost ?? 0 } : reported
        within.spend(usage)
        this.#spent = addUsage(this.#spent, usage)
        this.tell()
      },
    })
    return watch(inner)
  }

  #step(): Failure | undefined {
    if (this.#used.steps >= this.#parts.limits.steps) return this.#stepsSpent()
    this.#used.steps++
    this.tell()
    return undefined
  }

  #stepsSpent(): Failure {
    const { steps } = this.#parts.limits
    return unfinished(
      'steps',
      `the workers have made the ${amountOf(steps, 'step')} that they may make together; raise coordinator.steps in the settings to allow more`,
    )
  }
}

const amountOf = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
