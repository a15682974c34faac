import type { Failure } from '../../core/talk/outcome.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const longestMs = 24 * hourMs

/**
 * When it is worth another try: when whoever refused says. A time that has passed was said by an old message, and is no
 * reason to wait long; without one it is later each time. `before` counts the refusals in a row.
 */
export function parkedUntil({ kind, retryAt }: Failure, now: number, before: number): number {
  if (retryAt !== undefined && retryAt > now) return retryAt
  const [first, longest] = kind === 'quota' && retryAt === undefined ? [hourMs, longestMs] : [minuteMs, hourMs]
  return now + Math.min(longest, first * 2 ** before)
}
