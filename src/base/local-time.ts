/** A moment as a person at this machine would write it. */
export function localTime(at: number): string {
  const date = new Date(at)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The same without its date, when that is today's. */
export function localTimeFrom(now: number, at: number): string {
  const today = localTime(now).slice(0, 10)
  return localTime(at).replace(`${today} `, '')
}
