import type { Live } from '../core/talk/entry.ts'
import type { Failure } from '../core/talk/outcome.ts'

export type Limit = Extract<Live, { type: 'limit' }>

/**
 * What the windows of an agent come to once one is spent: the failure its next turn would end with,
 * known before anybody is refused. The last of the spent ones to begin anew counts.
 */
export function spent(limits: readonly Limit[], now: number): Failure | undefined {
  const [last] = limits
    .filter(({ used, until = 0 }) => used >= 100 && until > now)
    .sort((a, b) => (b.until ?? 0) - (a.until ?? 0))
  if (last?.until === undefined) return undefined
  const message = last.window === undefined ? 'its limit is spent' : `its ${last.window} limit is spent`
  return { kind: 'quota', message, retryAt: last.until }
}

/** The windows as they stand: each event replaces what was known of its own. */
export function withLimit(limits: readonly Limit[], limit: Limit): Limit[] {
  return [...limits.filter(({ window }) => window !== limit.window), limit]
}
