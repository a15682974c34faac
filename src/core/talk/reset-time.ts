import { momentAt, zoneNamed } from '../../base/time/time-zone.ts'

const day = 24 * 3_600_000

/** A time further in the future than this is not a reset time. */
const furthest = 366 * day

/**
 * Reads from a provider's message when its limit ends, in ms since 1970; the latest time if there are several.
 * Undefined when the message has neither a duration nor a time with its zone. `zone` is the time zone that a CLI is known to use.
 */
export function resetTime(message: string, now: number, zone?: string): number | undefined {
  const text = message.slice(0, 16_384)
  const moments = [...stamps(text), ...durations(text).map((ms) => now + ms), ...clockTimes(text, now, zone)]
  const ahead = moments.filter((moment) => moment > now && moment - now <= furthest)
  return ahead.length > 0 ? Math.max(...ahead) : undefined
}

// "Claude AI usage limit reached|1751922000", {"resets_at":1775317531}, "X-RateLimit-Reset":"1741305600000"
const stamp = /(?:limit reached\||reset(?:s|time(?:stamp)?)?(?:[-_ ]?at)?[\s:="'\\]{1,8})(\d{13}|\d{10})(?!\d)/gi

function stamps(text: string): number[] {
  return [...text.matchAll(stamp)].map(([, digits]) => Number(digits) * (digits!.length === 10 ? 1000 : 1))
}

const unit = 'milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w'
const amount = `(?:\\d+(?:\\.\\d+)?\\s{0,3}|(?:an?|one)\\s)(?:${unit})(?![a-z])`
const span = `${amount}(?:[\\s,]{0,3}(?:and\\s)?${amount})*`

// "Please try again in 9m38.016s", "try again in 4 days 20 hours 9 minutes", "Your quota will reset after 15h14m39s", "retrying in 6h16m", "Please wait 30 seconds"
const waits = new RegExp(
  `(?:\\b(?:(?:resets?|renews?|refresh(?:es)?|replenish(?:es)?|retry(?:ing)?|try(?:ing)? again|available|back)(?: again)?\\s+(?:in|after)|wait(?: for)?)\\s+(?:about |around |approximately |another |at least |less than |~ ?)?)(${span})`,
  'gi',
)
// {"retryDelay":"34.07s"}, retryDelay:34s, "quotaResetDelay":"2h21m34s"
const delays = new RegExp(`(?:retry|reset)[-_]?delay[\\s:="'\\\\]{1,8}(${span})`, 'gi')
// Retry-After: 30, "retry_after":1.5, retry-after-ms: 1500, {"resets_in_seconds":602705}
const counts =
  /(?:retry[-_ ]?after|reset_after|resets?_in)([-_]ms|[-_]seconds)?[\s:="'\\]{1,8}(\d+(?:\.\d+)?)(?![\w.:-])/gi

function durations(text: string): number[] {
  const spans = [...text.matchAll(waits), ...text.matchAll(delays)].map(([, words]) => spanMs(words!))
  const numbers = [...text.matchAll(counts)].map(([, of, count]) => Number(count) * (of?.endsWith('ms') ? 1 : 1000))
  return [...spans, ...numbers].map(Math.ceil)
}

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: day, w: 7 * day }

function spanMs(words: string): number {
  const parts = words.matchAll(new RegExp(`(?:(\\d+(?:\\.\\d+)?)\\s{0,3}|\\b(?:an?|one)\\s)(${unit})(?![a-z])`, 'gi'))
  return [...parts].reduce((sum, [, count, name]) => {
    const key = /^(?:ms|milli)/i.test(name!) ? 'ms' : name![0]!.toLowerCase()
    return sum + Number(count ?? 1) * unitMs[key]!
  }, 0)
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const month = `(?:${months.join('|')})[a-z]*\\.?`
const between = `(?:T|,?\\s+(?:at\\s+)?)`
const zoneWords = `[a-z]+(?:/[a-z_+\\-0-9]+)+|(?:UTC|GMT)(?:[+\\-−]\\d{1,2}(?::?\\d{2})?)?|[+\\-]\\d{2}:?\\d{2}|Z|AK[SD]T|HST|[ECMP][SD]?T|(?:Pacific|Mountain|Central|Eastern)(?: Standard| Daylight)? Time`

// "resets 3pm (America/New_York)", "resets Jan 12, 10:59am (America/New_York)", "Access resets at 10:57 PM GMT-3", "try again at Nov 16th, 2026 3:04 PM",
// "You will regain access on 2026-12-01 at 00:00 UTC", "resets at 2026-11-16T00:00:00Z", "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT", "resets at midnight Pacific Time"
const clockTime = new RegExp(
  `(?:reset(?:s|time(?:stamp)?)?|renews?|refresh(?:es)?|try(?:ing)? again|retry(?:ing)?|retry[-_]after|available(?: again)?|regain access|until|back)(?:[-_ ]?at)?[\\s:="'\\\\]{1,8}(?:(?:at|on|is|after|by|again|will be|from)\\s+)*` +
    `(?:(?<weekday>${weekdays.join('|')})[a-z]*\\.?,?\\s+(?:at\\s+)?)?` +
    `(?:(?<iso>\\d{4}-\\d{2}-\\d{2})${between}|(?<month>${month})\\s+(?<day>\\d{1,2})(?:st|nd|rd|th)?(?:,?\\s+(?<year>\\d{4}))?${between}|(?<day2>\\d{1,2})(?:st|nd|rd|th)?\\s+(?<month2>${month}),?(?:\\s+(?<year2>\\d{4}))?${between})?` +
    `(?:(?<hour>\\d{1,2})(?::(?<minute>\\d{2}))?(?::(?<second>\\d{2})(?:\\.\\d+)?)?\\s*(?<half>[ap]\\.?m\\b\\.?)?|(?<word>midnight|noon))` +
    `(?:\\s*\\(?(?<zone>${zoneWords})(?![\\w/])\\)?)?`,
  'gi',
)

function clockTimes(text: string, now: number, zone: string | undefined): number[] {
  return [...text.matchAll(clockTime)].flatMap(({ groups }) => {
    const found = clockMoment(groups as Partial<Record<string, string>>, now, zone)
    return found === undefined ? [] : [found]
  })
}

function clockMoment(said: Partial<Record<string, string>>, now: number, zone: string | undefined): number | undefined {
  const place = said.zone ?? zone
  const offset = place === undefined ? undefined : zoneNamed(place)
  const time = timeOfDay(said)
  if (!offset || time === undefined) return undefined
  const today = Math.floor((now + offset(now)) / day) * day
  const date = dateSaid(said, today)
  if (date === 'none') return undefined
  if (date !== undefined) return momentAt(date + time, offset)
  const ahead = said.weekday ? (weekdays.indexOf(said.weekday.toLowerCase()) - new Date(today).getUTCDay() + 7) % 7 : 0
  const next = momentAt(today + ahead * day + time, offset)
  // A time of day that has passed comes again: tomorrow, or on that weekday of the next week.
  return next > now ? next : momentAt(today + (ahead + (said.weekday ? 7 : 1)) * day + time, offset)
}

function timeOfDay({ hour, minute, second, half, word }: Partial<Record<string, string>>): number | undefined {
  if (word) return word.toLowerCase() === 'noon' ? day / 2 : 0
  // A bare number is not a time: "try again after 3".
  if (minute === undefined && half === undefined) return undefined
  const twelve = half !== undefined
  const hours = twelve ? (Number(hour) % 12) + (half.toLowerCase().startsWith('p') ? 12 : 0) : Number(hour)
  const fits = twelve ? Number(hour) >= 1 && Number(hour) <= 12 : hours <= 23
  if (!fits || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return undefined
  return ((hours * 60 + Number(minute ?? 0)) * 60 + Number(second ?? 0)) * 1000
}

/** Parses the date; 'none' for a date that does not exist, undefined if only a time of day was given. */
function dateSaid(said: Partial<Record<string, string>>, today: number): number | 'none' | undefined {
  if (said.iso) {
    const date = Date.parse(`${said.iso}T00:00:00Z`)
    return Number.isNaN(date) ? 'none' : date
  }
  const name = said.month ?? said.month2
  if (!name) return undefined
  const index = months.indexOf(name.slice(0, 3).toLowerCase())
  const number = Number(said.day ?? said.day2)
  const year = said.year ?? said.year2
  const dates = [0, 1].map((later) =>
    Date.UTC(year ? Number(year) : new Date(today).getUTCFullYear() + later, index, number),
  )
  // Without a year, the next such date is meant: in December, "Jan 2" is in the next year.
  const date = dates.find((candidate) => candidate >= today - day) ?? dates[0]!
  return new Date(date).getUTCDate() === number ? date : 'none'
}
