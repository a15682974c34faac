import type { DatabaseSync } from 'node:sqlite'
import { DaySlots, slotMs } from './day-slots.ts'

type ActivityBy = 'agent' | 'day' | 'project'

/**
 * The activity of one agent, one day or one project: turns that an agent answered, attempts of agents that failed, and how long agents
 * were out of quota.
 */
export type ActivityRow = { key: string; turns: number; failures: number; parkedMs: number }

/** `zone` is the time zone of the days; without it, the zone of this machine. */
export type ActivityOf = { by: ActivityBy; now: number; since?: number; project?: string; zone?: string }

const keys = (by: ActivityBy, agent: string, at: string, project: string): string =>
  ({ agent, day: `${at} / ${slotMs}`, project: `coalesce(l.path, ${project})` })[by]

/** An attempt that a person cancelled does not count as failed. */
const counted = "e.type = 'attempt' AND e.by NOT IN ('termaite', 'user') AND coalesce(e.text, '') NOT LIKE 'aborted:%'"

export function activity(db: DatabaseSync, { by, now, since = 0, project, zone }: ActivityOf): ActivityRow[] {
  const days = new DaySlots(zone)
  const rows = new Map<string, ActivityRow>()
  const rowOf = (key: unknown): ActivityRow => {
    const name = by === 'day' ? days.dayOf(Number(key)) : String(key)
    const row = rows.get(name) ?? { key: name, turns: 0, failures: 0, parkedMs: 0 }
    rows.set(name, row)
    return row
  }
  const of = { since, project: project ?? null }
  const turns = db
    .prepare(
      `SELECT ${keys(by, 't.by', 't.began', 't.project')} AS key, count(*) AS count
       FROM turns t LEFT JOIN logs l ON l.project = t.project
       WHERE t.by IS NOT NULL AND t.began >= :since AND (:project IS NULL OR t.project = :project) GROUP BY 1`,
    )
    .all(of)
  for (const { key, count } of turns) rowOf(key).turns += Number(count)
  const failures = db
    .prepare(
      `SELECT ${keys(by, 'e.by', 'e.at', 'e.project')} AS key, count(*) AS count
       FROM entries e LEFT JOIN logs l ON l.project = e.project
       WHERE ${counted} AND e.at >= :since AND (:project IS NULL OR e.project = :project) GROUP BY 1`,
    )
    .all(of)
  for (const { key, count } of failures) rowOf(key).failures += Number(count)
  for (const [key, ms] of parkedTimes(db, { by, now, since, project })) rowOf(key).parkedMs += ms
  return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}

type Parking = { agent: string; place: string; from: number; until: number }

/** The times during which agents were out of quota, split by key; times that overlap count once per agent. */
function parkedTimes(
  db: DatabaseSync,
  { by, now, since, project }: { by: ActivityBy; now: number; since: number; project?: string },
): [string | number, number][] {
  const found = db
    .prepare(
      // An answer of the agent shows that its quota was back before the reported time.
      `SELECT p.agent, coalesce(l.path, p.project) AS place, max(p.at, :since) AS "from",
         min(p.until, :now, coalesce((
           SELECT min(t.began) FROM turns t WHERE t.began > p.at AND t.by = p.agent AND t.how = 'answered'
         ), p.until)) AS until
       FROM parkings p LEFT JOIN logs l ON l.project = p.project
       WHERE p.until > :since AND (:project IS NULL OR p.project = :project) ORDER BY p.at`,
    )
    .all({ since, now, project: project ?? null }) as Parking[]
  const ends = new Map<string, number>()
  return found.flatMap(({ agent, place, from, until }): [string | number, number][] => {
    // In a list of projects, each project has the whole time in which an agent could not work in it.
    const group = by === 'project' ? `${agent} ${place}` : agent
    const begin = Math.max(from, ends.get(group) ?? 0)
    if (until <= begin) return []
    ends.set(group, until)
    return by === 'day' ? slotsBetween(begin, until) : [[by === 'agent' ? agent : place, until - begin]]
  })
}

function slotsBetween(from: number, until: number): [number, number][] {
  const parts: [number, number][] = []
  for (let at = from; at < until;) {
    const slot = Math.floor(at / slotMs)
    const end = Math.min(until, (slot + 1) * slotMs)
    parts.push([slot, end - at])
    at = end
  }
  return parts
}
