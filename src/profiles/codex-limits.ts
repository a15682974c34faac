import type { Step } from '../core/work/profile.ts'
import type { Loose } from './jsonl.ts'
import { loose, numberOf } from './jsonl.ts'

type Limit = Extract<Step, { type: 'limit' }>

/** The windows of an account as far as it has any; one that goes on with credits, and a key that is paid by use, has none. */
export function limitsOf({ primary, secondary, credits }: Loose): Limit[] {
  const { hasCredits, unlimited } = loose(credits)
  if (hasCredits === true || unlimited === true) return []
  return [primary, secondary].flatMap((found): Limit[] => {
    const { usedPercent, windowDurationMins, resetsAt } = loose(found)
    if (typeof usedPercent !== 'number') return []
    const until = numberOf(resetsAt) * 1000
    const window = windowName(numberOf(windowDurationMins))
    return [{ type: 'limit', used: usedPercent, ...(until > 0 ? { until } : {}), ...(window ? { window } : {}) }]
  })
}

/** When the last of the spent windows begins anew. */
export function spentUntil(limits: readonly Step[], now: number): number | undefined {
  const times = limits.flatMap((step) => (step.type === 'limit' && step.used >= 100 ? [step.until ?? 0] : []))
  const last = Math.max(0, ...times)
  return last > now ? last : undefined
}

function windowName(minutes: number): string | undefined {
  if (minutes <= 0) return undefined
  if (minutes === 7 * 24 * 60) return 'weekly'
  return minutes % (24 * 60) === 0 ? `${minutes / (24 * 60)}-day` : `${Math.round(minutes / 60)}-hour`
}
