/** Returns how far a zone is ahead of UTC at a time, in ms. */
type Offset = (at: number) => number

const hour = 3_600_000

/** The zones for which en-US has abbreviations with letters; for all others it uses GMT and a number. */
const letters: Record<string, number> = {
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
  AKST: -9,
  AKDT: -8,
  HST: -10,
}

const places: Record<string, string> = {
  ET: 'America/New_York',
  EASTERN: 'America/New_York',
  CT: 'America/Chicago',
  CENTRAL: 'America/Chicago',
  MT: 'America/Denver',
  MOUNTAIN: 'America/Denver',
  PT: 'America/Los_Angeles',
  PACIFIC: 'America/Los_Angeles',
}

/** Finds a zone by any of its names: `America/New_York`, `GMT-3`, `UTC+05:30`, `+0200`, `Z`, `PDT`, `Pacific Time`. */
export function zoneNamed(name: string): Offset | undefined {
  const short = name.toUpperCase().replace(/(?: STANDARD| DAYLIGHT)? TIME$/, '')
  if (/^(?:Z|UTC|GMT)$/.test(short)) return () => 0
  const numeric = /^(?:UTC|GMT)?([+\-−])(\d{1,2})(?::?(\d{2}))?$/.exec(short)
  if (numeric) {
    const ahead = (Number(numeric[2]) + Number(numeric[3] ?? 0) / 60) * hour
    return ahead > 14 * hour ? undefined : () => (numeric[1] === '+' ? ahead : -ahead)
  }
  const fixed = letters[short]
  if (fixed !== undefined) return () => fixed * hour
  return placeZone(places[short] ?? name)
}

/**
 * Returns the time at which clocks in a zone show `shown`, which is given as if it were UTC. If clocks show it twice, it is the later
 * time; if clocks skip it, it is as long after the jump as `shown` is.
 */
export function momentAt(shown: number, offset: Offset): number {
  const day = 24 * hour
  const moments = [shown - offset(shown - day), shown - offset(shown + day)]
  const real = moments.filter((moment) => moment + offset(moment) === shown)
  return Math.max(...(real.length > 0 ? real : moments))
}

function placeZone(place: string): Offset | undefined {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: place,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
  return (at) => {
    const shown = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year, month, day, hour, minute, second } = shown as Record<string, number>
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
  }
}
