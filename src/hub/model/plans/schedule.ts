import type { CronTimes } from '../../../base/time/cron-times.ts'
import type { Pipeline } from '../tasks/pipeline.ts'
import type { Plan, PlanSchedule } from './plan.ts'

/** A plan that runs at scheduled times. */
export type Schedule = PlanSchedule & {
  id: string
  name: string
  plan: Plan
  /** The hash of the plan, by which a repeated request is recognized. */
  digest: string
  by: string
  created: number
  /** When the next run begins; undefined if no time is left. */
  next?: number
  /** How often the plan ran, and how many times were left out because the previous run was not over. */
  runs: number
  skipped: number
  last?: { at: number; pipeline: string }
  /** Since when, and by whom, the schedule is paused. */
  paused?: { at: number; by: string }
}

/** The result of adding a plan: a pipeline that begins now, or a schedule that begins pipelines later. */
export type AddedPlan = { pipeline: Pipeline; schedule?: undefined } | { schedule: Schedule; pipeline?: undefined }

/** A run that begins this late was missed, because the hub was not running. */
const lateMs = 60_000
/** Missed times are counted up to this number. */
const mostMissed = 1_000

/** The next run of a schedule: its time, a note about it, and the schedule afterwards. */
type DueRun = { schedule: Schedule; at: number; note?: string }

/**
 * Returns the run that is due, or undefined before its time. Times that were missed while the hub was not running become one run, whose
 * note says so; the next run is after `now`.
 */
export function dueRun(schedule: Schedule, now: number, cron: CronTimes): DueRun | undefined {
  const { cron: pattern, zone, next: at, paused } = schedule
  if (at === undefined || at > now || paused) return undefined
  const next = cron.next(pattern, zone, now)
  const { next: _, ...rest } = schedule
  const after: Schedule = next === undefined ? rest : { ...rest, next }
  if (now - at < lateMs) return { schedule: after, at }
  const due = new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  const missed = timesBetween(schedule, at, now, cron)
  const note =
    missed === 1
      ? `This run was due at ${due} UTC, when the hub was away.`
      : `${missed > mostMissed ? `More than ${mostMissed}` : missed} times since ${due} UTC were missed while the hub was away; this is the one run for them.`
  return { schedule: after, at, note }
}

/** How many times of a schedule lie between its due time (included) and now. */
function timesBetween({ cron: pattern, zone }: Schedule, first: number, now: number, cron: CronTimes): number {
  let count = 0
  for (let at: number | undefined = first; at !== undefined && at <= now && count <= mostMissed; count++)
    at = cron.next(pattern, zone, at)
  return count
}

/** A resumed schedule: times that passed during the pause do not run. */
export function resumedSchedule(schedule: Schedule, now: number, cron: CronTimes): Schedule {
  const { paused: _, next: was, ...rest } = schedule
  const next = was !== undefined && was > now ? was : cron.next(schedule.cron, schedule.zone, now)
  return next === undefined ? rest : { ...rest, next }
}
