import type { Spent } from '../../core/work/budget.ts'
import type { HubAgent } from '../../core/work/task.ts'
import { table } from '../../base/table.ts'

export type SpentBy = Spent & { agent: string }

/** What an agent told of it; nothing where it told nothing. */
export function spentBy({ id, tokens, cost, priced = 0 }: HubAgent): SpentBy[] {
  return tokens === undefined ? [] : [{ agent: id, tokens, ...(cost === undefined ? {} : { cost, priced }) }]
}

/** A row for each, and for all together. */
export function spentLines(spent: readonly SpentBy[]): string[] {
  const rows = spent.length > 1 ? [...spent, spent.reduce(together)] : spent
  const cells = rows.map((row) => [`  ${row.agent}`, `${count(row.tokens)} tokens`, costWords(row)])
  return cells.length === 0 ? [] : table(cells).split('\n')
}

function together(a: SpentBy, b: SpentBy): SpentBy {
  const sum = { agent: 'together', tokens: a.tokens + b.tokens }
  if (a.cost === undefined && b.cost === undefined) return sum
  return { ...sum, cost: (a.cost ?? 0) + (b.cost ?? 0), priced: (a.priced ?? 0) + (b.priced ?? 0) }
}

/** A cost says of how much it is the cost. */
function costWords({ tokens, cost, priced = 0 }: Spent): string {
  if (cost === undefined) return 'no cost known'
  return priced < tokens ? `$${cost.toFixed(4)} for ${count(priced)} of them` : `$${cost.toFixed(4)}`
}

const count = (tokens: number) => tokens.toLocaleString('en-US')
