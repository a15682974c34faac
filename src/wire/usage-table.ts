import type { UsageBy, UsageRow } from '../store/index/index.ts'
import { table } from './table.ts'

export function usageTable(by: UsageBy, rows: readonly UsageRow[]): string {
  return table([[by.toUpperCase(), 'INPUT', 'CACHED', 'OUTPUT', 'COST', 'KNOWN BY'], ...rows.map(cells)])
}

function cells(row: UsageRow): string[] {
  const known = row.priced < row.count && row.cost !== undefined ? ` (${row.priced} of ${row.count} turns)` : ''
  return [
    row.key,
    number(row.input),
    number(row.cached),
    number(row.output),
    row.cost === undefined ? 'not known' : `$${row.cost.toFixed(4)}${known}`,
    row.source,
  ]
}

const number = (value: number) => value.toLocaleString('en')
