import type { Usage } from '../talk/entry.ts'
import type { Failure } from '../talk/outcome.ts'

/** One purse for a whole tree of turns. */
export interface Budget {
  /** Why a call of about so many tokens may not be made. */
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
          message: `the next call needs about ${next} tokens and ${Math.max(0, limit.tokens - tokens)} of ${limit.tokens} are left; raise --max-tokens to go on`,
        }
      if (limit.cost !== undefined && cost >= limit.cost)
        return {
          kind: 'budget',
          message: `$${cost.toFixed(2)} of $${limit.cost.toFixed(2)} are spent; raise --max-cost to go on`,
        }
      return undefined
    },
    spend(usage) {
      tokens += usage.input + usage.output
      cost += usage.cost ?? 0
    },
  }
}

/** What was used in all; `cost` is in dollars, and of `priced` of the tokens: nobody knows the price of the others. */
export type Spent = { tokens: number; cost?: number; priced?: number }

/** One more use, added up. */
export function addUsage(all: Spent, { input, output, cost }: Pick<Usage, 'input' | 'output' | 'cost'>): Spent {
  const used = input + output
  const tokens = all.tokens + used
  if (cost === undefined) return { ...all, tokens }
  return { tokens, cost: (all.cost ?? 0) + cost, priced: (all.priced ?? 0) + used }
}
