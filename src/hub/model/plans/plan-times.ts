import type { CronTimes } from '../../../base/time/cron-times.ts'
import type { PlanProblems } from './plan-problems.ts'
import type { WrittenTime } from './plan-form.ts'
import type { Deadline, PlanSchedule } from './plan.ts'
import type { Path } from '../../../core/data/shape.ts'
import { nearest } from '../../../base/text/nearest.ts'
import { momentAt, zoneNamed } from '../../../base/time/time-zone.ts'
import { meantWords } from './plan-problems.ts'

/** Checks the name of a time zone; `usual` is the zone for a plan that does not name one. */
export function zoneIn(written: string | undefined, usual: string, problems: PlanProblems): string {
  if (written === undefined) return usual
  const known = Intl.supportedValuesOf('timeZone')
  if (written === 'UTC' || known.includes(written)) return written
  const examples = '; write one such as Europe/Berlin, America/New_York or UTC.'
  const next = nearest(written, known) === undefined ? examples : meantWords(written, known)
  problems.add(['zone'], `there is no time zone "${written}"${next}`)
  return 'UTC'
}

type WrittenSchedule = string | { cron: string; overlap?: 'allow' | 'skip' } | undefined

/** Checks that a schedule is a cron pattern that matches at least one time after `now`. */
export function scheduleIn(
  written: WrittenSchedule,
  { zone, now, cron: times }: { zone: string; now: number; cron: CronTimes },
  problems: PlanProblems,
): PlanSchedule | undefined {
  if (written === undefined) return undefined
  const { cron, overlap = 'allow' } = typeof written === 'string' ? { cron: written } : written
  const path: Path = typeof written === 'string' ? ['schedule'] : ['schedule', 'cron']
  try {
    if (times.next(cron, zone, now) === undefined)
      problems.add(path, `"${cron}" never happens, because there is no such date. Change the day or the month.`)
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '').replace(/\.$/, '') : String(error)
    problems.add(
      path,
      `"${cron}" is not a cron pattern: ${why}. Write five fields (minute, hour, day, month, weekday), such as "0 3 * * 1-5", or @daily.`,
    )
  }
  return { cron, zone, overlap }
}

/** Checks a deadline. The deadline of a plan that runs repeatedly must be a duration. */
export function deadlineIn(
  written: number | WrittenTime | undefined,
  path: Path,
  { zone, now, repeats }: { zone: string; now: number; repeats: boolean },
  problems: PlanProblems,
): Deadline | undefined {
  if (written === undefined) return undefined
  if (typeof written === 'number') {
    if (written === 0) problems.add(path, 'the deadline is 0, which cannot be met. Write a duration such as 2h.')
    return { afterMs: written }
  }
  if (repeats) {
    problems.add(
      path,
      'a plan with a schedule runs repeatedly, so its deadline must be a duration such as 2h, counted from the beginning of each run.',
    )
    return undefined
  }
  const at = written.zoned ? written.shown : momentAt(written.shown, zoneNamed(zone) ?? (() => 0))
  if (at <= now) problems.add(path, 'the deadline has already passed. Write a later time.')
  return { at }
}
