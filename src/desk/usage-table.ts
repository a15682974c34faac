import type { Index, UsageBy, UsageRow, VerdictRow } from '../store/index/conversation-index.ts'
import { duration } from '../faces/chat/numbers.ts'
import { table } from '../base/table.ts'

/** What a row of the usage table can stand for. */
export const usageRows = ['agent', 'day', 'project', 'framework'] as const satisfies readonly UsageBy[]

/** How the answers of one agent were judged; `unjudged` are those that nobody has judged or checked. */
export type AgentResults = { agent: string; good: number; bad: number; unjudged: number }

/** How many results are counted at the most: those of the newest turns. */
const mostResults = 5_000

/** Counts how the answers of each agent were judged. */
export async function agentResults(index: Index, of: { since?: number; project?: string }): Promise<AgentResults[]> {
  const { since = 0, project } = of
  const found = await index.results({ ...(project === undefined ? {} : { project }), most: mostResults })
  const counts = new Map<string, AgentResults>()
  for (const { agent, good, at } of found) {
    if (at < since) continue
    const known = counts.get(agent) ?? { agent, good: 0, bad: 0, unjudged: 0 }
    counts.set(agent, known)
    known[good === undefined ? 'unjudged' : good ? 'good' : 'bad']++
  }
  return [...counts.values()].sort((a, b) => (a.agent < b.agent ? -1 : 1))
}

/** Writes usage as a table, and below it the thinking verdicts and how answers were judged, where there are any. */
export function usageTable(
  by: UsageBy,
  rows: readonly UsageRow[],
  verdicts: readonly VerdictRow[],
  results: readonly AgentResults[],
): string {
  const used = table([[by.toUpperCase(), 'INPUT', 'CACHED', 'OUTPUT', 'COST', 'SOURCE'], ...rows.map(cells)])
  const thought = verdicts.some(({ framework }) => framework !== 'direct')
  const parts = [used]
  if (by === 'agent' && results.some(({ good, bad }) => good + bad > 0))
    parts.push(`RESULTS\n${table([resultHead, ...results.map(resultCells)])}`)
  if (thought && by !== 'day' && by !== 'project')
    parts.push(`THINKING\n${table([thoughtHead, ...verdicts.map(thoughtCells)])}`)
  return parts.join('\n\n')
}

const resultHead = ['AGENT', 'GOOD', 'BAD', 'NOT JUDGED']

const resultCells = ({ agent, good, bad, unjudged }: AgentResults) => [agent, ...[good, bad, unjudged].map(number)]

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
