import type { Failure } from '../../core/talk/outcome.ts'

const busyMs = 60_000
const quotaMs = 3_600_000
const longestMs = 24 * 3_600_000

/** When it is worth another try: when whoever refused says, else later each time; `before` counts the tries in a row that were refused. */
export function parkedUntil({ kind, retryAt }: Failure, now: number, before: number): number {
  if (retryAt !== undefined && retryAt > now) return retryAt
  return now + (kind === 'quota' ? Math.min(longestMs, quotaMs * 2 ** before) : busyMs)
}
