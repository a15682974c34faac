import type { UsedAmounts } from '../../../core/turns/conversations.ts'

/** A range of days that ends now, in the reader's own time zone; without `days`, everything. */
type UsageRange = { name: string; title: string; days?: number }

export const ranges: readonly UsageRange[] = [
  { name: '7', title: '7 days', days: 7 },
  { name: '30', title: '30 days', days: 30 },
  { name: '90', title: '90 days', days: 90 },
  { name: 'all', title: 'All' },
]

export const rangeNamed = (name: string | null): UsageRange => ranges.find((one) => one.name === name) ?? ranges[1]!

export const dayMs = 24 * 3_600_000

/** The first moment of a range: the beginning of its first day. */
export function since({ days }: UsageRange, now: number): number {
  if (days === undefined) return 0
  const today = new Date(now)
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() - days + 1).getTime()
}

/** The name of a day, such as 2026-11-16. */
export function dayName(at: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** The days of a range without gaps: a day without usage counts zero. */
export function filledDays(rows: readonly UsedAmounts[], range: UsageRange, now: number): UsedAmounts[] {
  const known = new Map(rows.map((row) => [row.key, row]))
  const first = range.days === undefined ? rows[0]?.key : dayName(new Date(since(range, now)))
  if (first === undefined) return []
  const [year = 0, month = 1, day = 1] = first.split('-').map(Number)
  const last = dayName(new Date(now))
  const days: UsedAmounts[] = []
  for (let step = 0; ; step++) {
    const key = dayName(new Date(year, month - 1, day + step))
    if (key > last) return days
    days.push(known.get(key) ?? { key, input: 0, output: 0, turns: 0, failures: 0, parkedMs: 0 })
  }
}
