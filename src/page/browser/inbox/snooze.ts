/** A time until which an item can be snoozed. */
type SnoozeChoice = { label: string; at: number }

const hourMs = 3_600_000
const evening = 18
const morning = 8

/** The usual times until which an item can be snoozed, in the reader's time zone. */
export function snoozeChoices(now: number): SnoozeChoice[] {
  const today = new Date(now)
  const at = (days: number, hour: number) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + days, hour).getTime()
  const toMonday = (8 - today.getDay()) % 7 || 7
  return [
    { label: 'for an hour', at: now + hourMs },
    // An evening that is less than an hour away is not offered.
    ...(at(0, evening) - now > hourMs ? [{ label: 'until this evening', at: at(0, evening) }] : []),
    { label: 'until tomorrow morning', at: at(1, morning) },
    { label: 'until next week', at: at(toMonday, morning) },
  ]
}

/** Parses the value of a date-and-time field in the reader's time zone; undefined if it is not in the future. */
export function ownTime(value: string, now: number): number | undefined {
  const at = new Date(value).getTime()
  return at > now ? at : undefined
}
