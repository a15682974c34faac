/** Writes a time in the time zone of this machine: 2026-11-15 17:11. */
export function localTime(at: number): string {
  const date = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Writes a time without its date when it is today. */
export function localTimeFrom(now: number, at: number): string {
  const today = localTime(now).slice(0, 10)
  return localTime(at).replace(`${today} `, '')
}

/** Writes the time of day to the second: 17:11:09. */
export function clockTime(at: number): string {
  const date = new Date(at)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':')
}
