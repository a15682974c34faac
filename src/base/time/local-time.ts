/** Formats a time in the time zone of this machine: 2026-11-15 17:11. */
export function localTime(at: number): string {
  const date = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

const steps = [
  [60, 's'],
  [60, 'min'],
  [24, 'h'],
  [14, 'd'],
] as const

/** Formats how long ago a time was, such as `2 h ago`; a time more than two weeks ago, or in the future, becomes its date. */
export function relativeTime(now: number, at: number): string {
  let amount = (now - at) / 1000
  if (amount < 0) return localTimeFrom(now, at)
  for (const [size, unit] of steps) {
    if (amount < size) return unit === 's' ? 'just now' : `${Math.floor(amount)} ${unit} ago`
    amount /= size
  }
  return localTime(at).slice(0, 10)
}

/** Formats a time, without its date if it is today. */
export function localTimeFrom(now: number, at: number): string {
  const today = localTime(now).slice(0, 10)
  return localTime(at).replace(`${today} `, '')
}

/** Formats a wall-clock time to the second: 17:11:09. */
export function clockTime(at: number): string {
  const date = new Date(at)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':')
}
