import { durationMs } from '../../base/time/duration.ts'
import { UsageError } from '../../core/io.ts'

/** Finished tasks are kept for at least this long, so that no result is removed before it was read. */
const leastKeptMs = 3_600_000

/** Parses how long finished tasks are kept; `from` names the option or the setting. */
export function retentionTime(from: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = durationMs(text) ?? 0
  if (ms < leastKeptMs)
    throw new UsageError(`${from}: found "${text}", allowed: a time of at least one hour, such as 90d or 12h.`)
  return ms
}
