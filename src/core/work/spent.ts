import type { Usage } from '../talk/entry.ts'

/** What was used in all; `cost` is in dollars, and of `priced` of the tokens: nobody knows the price of the others. */
export type Spent = { tokens: number; cost?: number; priced?: number }

/** One more use, added up. */
export function spentWith(all: Spent, { input, output, cost }: Pick<Usage, 'input' | 'output' | 'cost'>): Spent {
  const used = input + output
  const tokens = all.tokens + used
  if (cost === undefined) return { ...all, tokens }
  return { tokens, cost: (all.cost ?? 0) + cost, priced: (all.priced ?? 0) + used }
}
