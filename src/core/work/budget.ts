import type { Usage } from '../talk/entry.ts'
import type { Failure } from '../talk/outcome.ts'
import { defined } from '../../base/defined.ts'
import { unfinished } from '../talk/outcome.ts'

/** The limits that a turn shares with every turn inside it. */
export interface Budget {
  /** Returns a failure if a call of about this many tokens would exceed the limit on tokens or cost. */
  refuse(tokens: number): Failure | undefined
  /**
   * Sets tokens aside for a call that is about to be made, or returns why it would exceed a limit. Calls side by side would
   * otherwise all pass a limit that has room for one of them.
   */
  reserve(tokens: number): Reservation
  spend(usage: Omit<Usage, 'type'>): void
  /** Counts one more step, and returns a failure if it exceeds the limit. Missing in a budget without a limit on steps. */
  step?(): Failure | undefined
  /** The budget of a new turn: its steps are counted from 1, and earlier usage still counts. */
  turn?(): Budget
}

/** `budget`: the budget of the call itself, which may use the reserved tokens. `release` returns the unused ones. */
export type Reservation = { failure: Failure } | { failure?: undefined; budget: Budget; release(): void }

export const noBudget: Budget = {
  refuse: () => undefined,
  reserve: () => ({ budget: noBudget, release: () => {} }),
  spend: () => {},
}

/** `cost` is in dollars; `steps` is for one turn, the others are for all turns of this run. */
type BudgetLimits = { tokens?: number; cost?: number; steps?: number }

/** The setting or option by which a person allows more; `instead` is the limit that can be enforced when a cost is not known. */
type BudgetNames = { tokens: string; cost: string; instead: string }

const flagNames: BudgetNames = { tokens: '--max-tokens', cost: '--max-cost', instead: '--max-tokens' }

/** Tokens that are reserved for one call, and for the calls inside it. */
class Hold {
  tokens: number
  inside = new Set<Hold>()

  constructor(tokens: number) {
    this.tokens = tokens
  }

  /** The tokens that the call may still use. The calls inside it use the same tokens, as long as these last. */
  get weight(): number {
    const inside = [...this.inside].reduce((sum, { weight }) => sum + weight, 0)
    return Math.max(this.tokens, inside)
  }

  /** Deducts used tokens from the reserved ones; returns how many were not covered. */
  spend(tokens: number): number {
    this.tokens = Math.max(0, this.tokens - tokens)
    let left = tokens
    for (const hold of this.inside) left = hold.spend(left)
    return left
  }
}

/** The tokens and the cost that all turns of a run have used. */
class Spending {
  tokens = 0
  cost = 0
  /** The tokens whose cost is known. */
  priced = 0
  unpriced = false
  held = new Hold(0)
  limit: BudgetLimits
  names: BudgetNames

  constructor(limit: BudgetLimits, names: BudgetNames) {
    this.limit = limit
    this.names = names
  }

  /** Returns why no call of this many tokens may be made inside the holds; the outermost hold comes first. */
  refuse(next: number, holds: readonly Hold[]): Failure | undefined {
    const { limit, names } = this
    const aside = this.#setAsideElsewhere(holds)
    const left = (limit.tokens ?? Infinity) - this.tokens - aside
    if (next > left)
      return unfinished(
        'tokens',
        `the next call needs about ${next} tokens, but only ${Math.max(0, left)} of ${limit.tokens} are left${aside > 0 ? ` beside the ${aside} that are set aside for calls under way` : ''}; raise ${names.tokens} to continue`,
      )
    if (limit.cost === undefined) return undefined
    if (this.unpriced)
      return unfinished(
        'cost',
        `an agent did not report what its answer cost, so ${names.cost} cannot be enforced; use ${names.instead} instead`,
      )
    const dear = this.priced === 0 ? 0 : (aside * this.cost) / this.priced
    if (this.cost + dear < limit.cost) return undefined
    const underWay = dear > 0 ? `, or set aside for calls under way` : ''
    return unfinished(
      'cost',
      `${dollars(this.cost + dear)} of ${dollars(limit.cost)} are spent${underWay}; raise ${names.cost} to continue`,
    )
  }

  /** The tokens that are reserved for calls other than those of the holds. */
  #setAsideElsewhere(holds: readonly Hold[]): number {
    let sum = 0
    for (const [index, { inside }] of [this.held, ...holds].entries())
      for (const other of inside) if (other !== holds[index]) sum += other.weight
    return sum
  }

  spend({ input, output, cost }: Omit<Usage, 'type'>, holds: readonly Hold[]): void {
    const tokens = input + output
    this.tokens += tokens
    this.cost += cost ?? 0
    if (cost !== undefined) this.priced += tokens
    else this.unpriced ||= tokens > 0
    for (const hold of holds.slice(0, -1)) hold.tokens = Math.max(0, hold.tokens - tokens)
    holds.at(-1)?.spend(tokens)
  }
}

/** A small amount has more digits, so that it is not shown as zero. */
export const dollars = (amount: number) => `$${amount.toFixed(amount > 0 && amount < 0.01 ? 4 : 2)}`

export function budget(limit: BudgetLimits, names = flagNames): Budget {
  const spending = new Spending(limit, names)
  const within = (holds: readonly Hold[], more: Pick<Budget, 'turn'>): Budget => ({
    refuse: (tokens) => spending.refuse(tokens, holds),
    reserve(tokens) {
      const failure = spending.refuse(tokens, holds)
      if (failure) return { failure }
      const hold = new Hold(tokens)
      const outer = (holds.at(-1) ?? spending.held).inside
      outer.add(hold)
      const release = () => {
        outer.delete(hold)
      }
      return { budget: within([...holds, hold], more), release }
    },
    spend: (usage) => spending.spend(usage, holds),
    ...more,
  })
  const turn = (): Budget => {
    const all = within([], { turn })
    return limit.steps === undefined ? all : withSteps(all, limit.steps, '--max-steps')
  }
  return turn()
}

/** A budget in which every call must pass the limits of both. */
export function bothBudgets(one: Budget, other: Budget): Budget {
  const step = one.step || other.step ? () => one.step?.() ?? other.step?.() : undefined
  return defined<Budget>({
    refuse: (tokens) => one.refuse(tokens) ?? other.refuse(tokens),
    reserve(tokens) {
      const first = one.reserve(tokens)
      if (first.failure) return first
      const second = other.reserve(tokens)
      if (second.failure) {
        first.release()
        return second
      }
      const release = () => {
        first.release()
        second.release()
      }
      return { budget: bothBudgets(first.budget, second.budget), release }
    },
    spend(usage) {
      one.spend(usage)
      other.spend(usage)
    },
    step,
  })
}

/** Limits a budget to this many steps of a turn; `raise` names the flag or the setting that allows more. */
export function withSteps(all: Budget, most: number, raise: string): Budget {
  let steps = 0
  const step = () => (steps++ < most ? all.step?.() : stepsSpent(most, raise))
  // The budget of a call inside the turn counts the same steps.
  const stepping = (budget: Budget): Budget => ({
    ...budget,
    step,
    reserve(tokens) {
      const held = budget.reserve(tokens)
      return held.failure ? held : { ...held, budget: stepping(held.budget) }
    },
  })
  return stepping(all)
}

/** `most`: the steps of an unwatched turn. `askEvery`: after how many steps a person who watches is asked whether to continue. */
export type StepLimits = { most: number; askEvery: number }

/** The limits if the settings contain none. */
export const usualSteps: StepLimits = { most: 50, askEvery: 100 }

/** The failure of a turn that has used all its steps; `raise` names the flag or the setting that allows more. */
export function stepsSpent(most: number, raise: string): Failure {
  const made = most === 1 ? 'its only allowed step is made' : `its ${most} allowed steps are made`
  return unfinished('steps', `${made}; raise ${raise} to allow more`)
}

/** Tokens used in total. `cost` is in dollars and covers only the `priced` tokens: the price of the others is unknown. */
export type Spent = { tokens: number; cost?: number; priced?: number }

/** Returns the total with one more usage added. */
export function addUsage(all: Spent, { input, output, cost }: Pick<Usage, 'input' | 'output' | 'cost'>): Spent {
  const used = input + output
  const tokens = all.tokens + used
  if (cost === undefined) return { ...all, tokens }
  return { tokens, cost: (all.cost ?? 0) + cost, priced: (all.priced ?? 0) + used }
}
