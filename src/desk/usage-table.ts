import type { ActivityRow, Index, UsageBy, UsageRow, VerdictRow } from '../store/index/conversation-index.ts'
import { groupDigits } from '../base/text/number-words.ts'
import { duration } from '../chat/style/numbers.ts'
import { table } from '../base/text/table.ts'

/** The properties by which the usage table can group its rows. */
export const usageRows = ['agent', 'day', 'project', 'framework'] as const satisfies readonly UsageBy[]

/** How the answers of one agent were judged; `unjudged` counts those that were neither judged nor checked. */
type AgentResults = { agent: string; good: number; bad: number; unjudged: number }

/** The most results that are counted: those of the newest turns. */
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

/** Counts turns, failures and the time without quota, grouped as the rows of the table; turns are not counted by framework. */
export async function activityOf(
  index: Index,
  of: { by: UsageBy; now: number; since?: number; project?: string },
): Promise<ActivityRow[]> {
  const { by, ...rest } = of
  return by === 'framework' ? [] : index.activity({ by, ...rest })
}

type UsageParts = {
  used: readonly UsageRow[]
  done: readonly ActivityRow[]
  verdicts: readonly VerdictRow[]
  results: readonly AgentResults[]
}

/** Formats usage as a table. Activity, thinking verdicts and judgements of answers follow below it, if there are any. */
export function usageTable(by: UsageBy, { used: rows, done, verdicts, results }: UsageParts): string {
  const used = table([[by.toUpperCase(), 'INPUT', 'CACHED', 'OUTPUT', 'COST', 'SOURCE'], ...rows.map(cells)])
  const thought = verdicts.some(({ framework }) => framework !== 'direct')
  const parts = [used]
  if (by === 'agent' && results.some(({ good, bad }) => good + bad > 0))
    parts.push(`RESULTS\n${table([resultHead, ...results.map(resultCells)])}`)
  if (thought && by !== 'day' && by !== 'project')
    parts.push(`THINKING\n${table([thoughtHead, ...verdicts.map(thoughtCells)])}`)
  if (done.length > 0)
    parts.push(
      `TURNS\n${table([[by.toUpperCase(), 'ANSWERED', 'FAILED TRIES', 'OUT OF QUOTA'], ...done.map(doneCells)])}`,
    )
  return parts.join('\n\n')
}

/** Formats our own counts and those of the CLIs' own records as one table, with their sum. */
export function everywhereTable(by: UsageBy, rows: readonly (UsageRow & { outside?: true })[]): string {
  const sum = (of: (row: UsageRow) => number) => rows.reduce((total, row) => total + of(row), 0)
  const total: UsageRow = {
    key: 'total',
    source: 'parsed',
    count: sum(({ count }) => count),
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cached: sum(({ cached }) => cached),
    priced: sum(({ priced }) => priced),
    ...(rows.some(({ cost }) => cost !== undefined) ? { cost: sum(({ cost }) => cost ?? 0) } : {}),
  }
  return table([
    [by.toUpperCase(), 'INPUT', 'CACHED', 'OUTPUT', 'COST', 'WHERE'],
    ...rows.map((row) => [
      ...(row.outside ? numbers(row, 'requests') : numbers(row)),
      row.outside ? 'the CLI’s own records' : `termaite, ${row.source}`,
    ]),
    [...numbers(total, 'counts'), ''],
  ])
}

const doneCells = ({ key, turns, failures, parkedMs }: ActivityRow) => [
  key,
  groupDigits(turns),
  groupDigits(failures),
  parkedMs === 0 ? '' : duration(parkedMs),
]

const resultHead = ['AGENT', 'GOOD', 'BAD', 'NOT JUDGED']

const resultCells = ({ agent, good, bad, unjudged }: AgentResults) => [agent, ...[good, bad, unjudged].map(groupDigits)]

const cells = (row: UsageRow): string[] => [...numbers(row), row.source]

function numbers(row: UsageRow, what = 'turns'): string[] {
  const known = row.priced < row.count && row.cost !== undefined ? ` (${row.priced} of ${row.count} ${what})` : ''
  return [
    row.key,
    groupDigits(row.input),
    groupDigits(row.cached),
    groupDigits(row.output),
    row.cost === undefined ? 'not known' : `$${row.cost.toFixed(4)}${known}`,
  ]
}

const thoughtHead = ['FRAMEWORK', 'AGENT', 'TURNS', 'CHECKED', 'CALLS', 'TOKENS', 'TIME', 'COST']

function thoughtCells(row: VerdictRow): string[] {
  const checked = row.passed + row.failed
  const part = row.priced < row.counts ? ` (${row.priced} of ${row.counts} known)` : ''
  return [
    row.framework,
    row.agent,
    groupDigits(row.turns),
    checked === 0 ? 'unchecked' : `${row.passed} of ${checked} passed`,
    groupDigits(row.calls),
    `${row.source === 'reported' ? '' : '~'}${groupDigits(row.tokens)}`,
    duration(row.ms),
    row.cost === undefined ? 'not known' : `$${row.cost.toFixed(4)}${part}`,
  ]
}
