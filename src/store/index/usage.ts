import type { DatabaseSync } from 'node:sqlite'
import type { Usage } from '../../core/talk/entry.ts'

export type UsageBy = 'agent' | 'day' | 'project' | 'framework'

/** What was used under one key, by how it is known. `cost` is the sum of the `priced` ones among the `count`. */
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
  // Days are the person's, not Greenwich's.
  day: "date(u.at / 1000, 'unixepoch', 'localtime')",
  project: 'coalesce(l.path, u.project)',
  // A turn that nobody thought about went straight to an agent.
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
