import type { UsageBy, UsageRow, VerdictRow } from '../store/index/conversation-index.ts'
import { duration } from '../faces/chat/numbers.ts'
import { table } from '../base/table.ts'

/** What a row of the usage table can stand for. */
export const usageRows = ['agent', 'day', 'project', 'framework'] as const satisfies readonly UsageBy[]

/** Writes usage as a table, and the thinking verdicts below it, where there are any. */
export function usageTable(by: UsageBy, rows: readonly UsageRow[], verdicts: readonly VerdictRow[]): string {
  const used = table([[by.toUpperCase(), 'INPUT', 'CACHED', 'OUTPUT', 'COST', 'SOURCE'], ...rows.map(cells)])
  const thought = verdicts.some(({ framework }) => framework !== 'direct')
  if (!thought || by === 'day' || by === 'project') return used
  return `${used}\n\nTHINKING\n${table([thoughtHead, ...verdicts.map(thoughtCells)])}`
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

const thoughtHead = ['FRAMEWORK', 'AGENT', 'TURNS', 'CHECKED', 'CALLS', 'TOKENS', 'TIME', 'COST']

function thoughtCells(row: VerdictRow): string[] {
  const checked = row.passed + row.failed
  const part = row.priced < row.counts ? ` (${row.priced} of ${row.counts} known)` : ''
  return [
    row.framework,
    row.agent,
    number(row.turns),
    checked === 0 ? 'unchecked' : `${row.passed} of ${checked} passed`,
    number(row.calls),
    `${row.source === 'reported' ? '' : '~'}${number(row.tokens)}`,
    duration(row.ms),
    row.cost === undefined ? 'not known' : `$${row.cost.toFixed(4)}${part}`,
  ]
}

const number = (value: number) => value.toLocaleString('en')
