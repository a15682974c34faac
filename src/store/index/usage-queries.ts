import type { DatabaseSync } from 'node:sqlite'
import type { Usage } from '../../core/talk/entry.ts'
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
  // Days in the person's time zone.
  day: "date(u.at / 1000, 'unixepoch', 'localtime')",
  project: 'coalesce(l.path, u.project)',
  // A turn without a verdict went directly to an agent.
  framework: "coalesce(v.framework, 'direct')",
}

export function usage(
  db: DatabaseSync,
  { by, since = 0, project }: { by: UsageBy; since?: number; project?: string },
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
  return rows.map(({ cost, ...row }) => ({ ...row, ...(cost === null ? {} : { cost }) }) as UsageRow)
}

/**
 * The turns that one agent took in one framework. `calls`: how many other agents were asked; `ms`: the median.
 * `tokens` are those of all agents that took part, and `source` is the least certain of theirs; `cost` is the sum over the `priced` rows among `counts`.
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
