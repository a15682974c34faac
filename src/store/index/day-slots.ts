/** In every time zone, a day begins at the beginning of a quarter of an hour. */
export const slotMs = 15 * 60_000

/** The days of a time zone; times are counted in quarters of an hour since 1970, so that one query serves every zone. */
export class DaySlots {
  #format: Intl.DateTimeFormat
  #known = new Map<number, string>()

  /** Throws a RangeError for a zone that does not exist; without a zone, days are those of this machine. */
  constructor(zone?: string) {
    this.#format = new Intl.DateTimeFormat('en', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  }

  /** The day of a quarter of an hour, for example 2026-11-16. */
  dayOf(slot: number): string {
    const known = this.#known.get(slot)
    if (known !== undefined) return known
    const parts = Object.fromEntries(this.#format.formatToParts(slot * slotMs).map(({ type, value }) => [type, value]))
    const day = `${parts.year!.padStart(4, '0')}-${parts.month}-${parts.day}`
    this.#known.set(slot, day)
    return day
  }
}
