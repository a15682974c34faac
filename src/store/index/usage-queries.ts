import type { DatabaseSync } from 'node:sqlite'
import type { Usage } from '../../core/talk/entry.ts'
import { defined } from '../../base/defined.ts'
import { DaySlots, slotMs } from './day-slots.ts'
import { countedJudgements } from './turn-results.ts'

export type UsageBy = 'agent' | 'day' | 'project' | 'framework'

/** The usage of one agent, day, project or framework, for one source. `cost` is the sum over the `priced` rows among `count`. */
export type UsageRow = {
  key: string
  source: Usage['source']
  count: number
  input: number
  output: number
  cached: number
  cost?: number
  priced: number
}

const keys: Record<UsageBy, string> = {
  agent: 'u.by',
  day: `u.at / ${slotMs}`,
  project: 'coalesce(l.path, u.project)',
  // A turn without a verdict went directly to an agent.
  framework: "coalesce(v.framework, 'direct')",
}

export function usage(
  db: DatabaseSync,
  { by, since = 0, project, zone }: { by: UsageBy; since?: number; project?: string; zone?: string },
): UsageRow[] {
  const rows = db
    .prepare(
      `
      SELECT ${keys[by]} AS key, source, count(*) AS count, sum(input) AS input, sum(output) AS output,
        sum(cached) AS cached, sum(cost) AS cost, count(cost) AS priced
      FROM usage u LEFT JOIN logs l ON l.project = u.project
        LEFT JOIN verdicts v ON v.session = u.session AND v.turn = u.turn
      WHERE u.at >= :since AND (:project IS NULL OR u.project = :project)
      GROUP BY 1, 2 ORDER BY 1, 2
      `,
    )
    .all({ since, project: project ?? null })
  const found = rows.map(({ cost, ...row }) => ({ ...row, ...(cost === null ? {} : { cost }) }) as UsageRow)
  return by === 'day' ? byDay(found, new DaySlots(zone)) : found
}

/** A turn in which an agent worked in its own thread `key`, and whether its tokens were counted. */
export type ThreadTurn = { key: string; from: number; to: number; usage: boolean }

export function threads(db: DatabaseSync): ThreadTurn[] {
  return db
    .prepare(
      `
      SELECT t.call AS key, min(e.at) AS "from", max(e.at) AS "to",
        EXISTS (SELECT 1 FROM usage u WHERE u.project = t.project AND u.turn = t.turn AND u.by = t.by) AS usage
      FROM entries t JOIN sessions s ON s.id = t.session AND s.log IS NULL
        JOIN entries e ON e.session = t.session AND e.turn = t.turn
      WHERE t.type = 'thread' AND t.call IS NOT NULL
      GROUP BY t.session, t.turn, t.by, t.call
      `,
    )
    .all()
    .map(({ key, from, to, usage }) => ({ key: String(key), from: Number(from), to: Number(to), usage: usage === 1 }))
}

/** Adds up the rows of each day; each row's key is a quarter of an hour. */
function byDay(rows: readonly UsageRow[], days: DaySlots): UsageRow[] {
  const all = new Map<string, UsageRow>()
  for (const row of rows) {
    const key = days.dayOf(Number(row.key))
    const was = all.get(`${key} ${row.source}`)
    const cost = was?.cost === undefined && row.cost === undefined ? undefined : (was?.cost ?? 0) + (row.cost ?? 0)
    const sum = (name: 'count' | 'input' | 'output' | 'cached' | 'priced') => (was?.[name] ?? 0) + row[name]
    all.set(
      `${key} ${row.source}`,
      defined({
        key,
        source: row.source,
        count: sum('count'),
        input: sum('input'),
        output: sum('output'),
        cached: sum('cached'),
        cost,
        priced: sum('priced'),
      }),
    )
  }
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/**
 * The turns that one agent took in one framework. `calls`: how many other agents were asked; `ms`: the median. `tokens` are those of all
 * agents that took part, and `source` is the least certain source of these numbers; `cost` is the sum over the `priced` rows among
 * `counts`.
 */
export type VerdictRow = {
  framework: string
  agent: string
  turns: number
  passed: number
  failed: number
  unchecked: number
  calls: number
  ms: number
  tokens: number
  source?: Usage['source']
  cost?: number
  priced: number
  counts: number
}

/** One row for each framework and agent. */
const rows = `
  WITH counted AS (${countedJudgements('judgements')}),
  spent AS (
    SELECT session, turn, sum(input + output) AS tokens, sum(cost) AS cost, count(cost) AS priced, count(*) AS counts,
      max(CASE source WHEN 'estimated' THEN 3 WHEN 'parsed' THEN 2 ELSE 1 END) AS doubt
    FROM usage WHERE :project IS NULL OR project = :project GROUP BY session, turn
  ),
  judged AS (
    SELECT v.*, s.tokens, s.cost, s.priced, s.counts, s.doubt,
      CASE c.good WHEN 1 THEN 'passed' WHEN 0 THEN 'failed' ELSE 'unchecked' END AS outcome,
      row_number() OVER (PARTITION BY v.framework, v.by ORDER BY v.ms) AS place,
      count(*) OVER (PARTITION BY v.framework, v.by) AS many
    FROM verdicts v LEFT JOIN spent s ON s.session = v.session AND s.turn = v.turn
      LEFT JOIN turns t ON t.project = v.project AND t.turn = v.turn
      LEFT JOIN counted c ON c.project = v.project AND c.turn = v.turn AND c.agent = coalesce(t.by, v.by)
    WHERE v.at >= :since AND (:project IS NULL OR v.project = :project)
  )
  SELECT framework, by AS agent, count(*) AS turns, sum(outcome = 'passed') AS passed, sum(outcome = 'failed') AS failed,
    sum(outcome = 'unchecked') AS unchecked, sum(calls) AS calls, max(CASE WHEN place = (many + 1) / 2 THEN ms END) AS ms,
    coalesce(sum(tokens), 0) AS tokens,
    CASE max(doubt) WHEN 3 THEN 'estimated' WHEN 2 THEN 'parsed' WHEN 1 THEN 'reported' END AS source,
    sum(cost) AS cost, coalesce(sum(priced), 0) AS priced, coalesce(sum(counts), 0) AS counts
  FROM judged GROUP BY framework, by ORDER BY framework, by
`

export function verdicts(
  db: DatabaseSync,
  { since = 0, project }: { since?: number; project?: string } = {},
): VerdictRow[] {
  return db
    .prepare(rows)
    .all({ since, project: project ?? null })
    .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as VerdictRow)
}
