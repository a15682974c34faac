import type { Usage } from '../talk/entry.ts'
import type { Failure } from '../talk/outcome.ts'
import { unfinished } from '../talk/outcome.ts'

/** The limits that a turn shares with every turn inside it. */
export interface Budget {
  /** Returns a failure when a call of about this many tokens would exceed the limit on tokens or cost. */
  refuse(tokens: number): Failure | undefined
  spend(usage: Omit<Usage, 'type'>): void
  /** Counts one more step, and returns a failure when it is one too many. A budget without a limit on steps has no such function. */
  step?(): Failure | undefined
  /** The budget of a new turn: its steps are counted from 1, and what was spent stays spent. */
  turn?(): Budget
}

export const noBudget: Budget = { refuse: () => undefined, spend: () => {} }

/** `cost` is in dollars; `steps` is for one turn, the others are for all turns of this run. */
export type BudgetLimits = { tokens?: number; cost?: number; steps?: number }

export function budget(limit: BudgetLimits): Budget {
  let tokens = 0
  let cost = 0
  let unpriced = false
  const shared: Pick<Budget, 'refuse' | 'spend'> = {
    refuse(next) {
      if (limit.tokens !== undefined && tokens + next > limit.tokens)
        return unfinished(
          'tokens',
          `the next call needs about ${next} tokens, but only ${Math.max(0, limit.tokens - tokens)} of ${limit.tokens} are left; raise --max-tokens to continue`,
        )
      if (limit.cost !== undefined && unpriced)
        return unfinished(
          'cost',
          'an agent did not report what its answer cost, so --max-cost cannot be held; use --max-tokens instead',
        )
      if (limit.cost !== undefined && cost >= limit.cost)
        return unfinished(
          'cost',
          `$${cost.toFixed(2)} of $${limit.cost.toFixed(2)} are spent; raise --max-cost to continue`,
        )
      return undefined
    },
    spend(usage) {
      tokens += usage.input + usage.output
      cost += usage.cost ?? 0
      unpriced ||= usage.cost === undefined && usage.input + usage.output > 0
    },
  }
  const turn = (): Budget => {
    const most = limit.steps
    if (most === undefined) return { ...shared, turn }
    let steps = 0
    const step = () => (steps++ < most ? undefined : stepsSpent(most, '--max-steps'))
    return { ...shared, step, turn }
  }
  return turn()
}

/** `most`: the steps of a turn that nobody watches. `askEvery`: after how many steps a person who watches is asked whether to go on. */
export type StepLimits = { most: number; askEvery: number }

/** The limits where the settings name none. */
export const usualSteps: StepLimits = { most: 50, askEvery: 100 }

/** The failure of a turn that has made all the steps it may; `raise` names the flag or the setting that allows more. */
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
