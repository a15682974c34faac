import { UsageError } from '../core/io.ts'

/** A date, or so long ago: 7d, 12h, 30m. */
export function sinceOf(text: string, now: number): number {
  const ago = /^(\d+)([dhm])$/.exec(text)
  if (ago) return now - Number(ago[1]) * { d: 86_400_000, h: 3_600_000, m: 60_000 }[ago[2] as 'd' | 'h' | 'm']
  // A bare date would be read as UTC: a person means their own midnight.
  const at = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text)
  if (Number.isNaN(at))
    throw new UsageError(`--since: found "${text}", allowed: a date (2026-11-15), or so long ago (7d, 12h, 30m).`)
  return at
}
