import type { Usage } from '../talk/entry.ts'
import type { Failure } from '../talk/outcome.ts'

/** The limit on tokens and cost that a turn shares with every turn inside it. */
export interface Budget {
  /** Returns a failure when a call of about this many tokens would exceed the limit. */
  refuse(tokens: number): Failure | undefined
  spend(usage: Omit<Usage, 'type'>): void
}

export const noBudget: Budget = { refuse: () => undefined, spend: () => {} }

export function budget(limit: { tokens?: number; cost?: number }): Budget {
  let tokens = 0
  let cost = 0
  return {
    refuse(next) {
      if (limit.tokens !== undefined && tokens + next > limit.tokens)
        return {
          kind: 'budget',
          message: `the next call needs about ${next} tokens, but only ${Math.max(0, limit.tokens - tokens)} of ${limit.tokens} are left; raise --max-tokens to continue`,
        }
      if (limit.cost !== undefined && cost >= limit.cost)
        return {
          kind: 'budget',
          message: `$${cost.toFixed(2)} of $${limit.cost.toFixed(2)} are spent; raise --max-cost to continue`,
        }
      return undefined
    },
    spend(usage) {
      tokens += usage.input + usage.output
      cost += usage.cost ?? 0
    },
  }
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
