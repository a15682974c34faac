import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { resetTime } from '../../src/core/talk/reset-time.ts'

const now = Date.parse('2026-11-15T12:00:00Z')

function said(messages: Record<string, string | undefined>, at = now, zone?: string) {
  const found = Object.keys(messages).map((message) => {
    const moment = resetTime(message, at, zone)
    return [message, moment === undefined ? undefined : new Date(moment).toISOString()]
  })
  assert.deepEqual(Object.fromEntries(found), messages)
}

test('a stamp is read as it stands', () => {
  said({
    'Claude AI usage limit reached|1794758400': '2026-11-15T16:00:00.000Z',
    '{"error":{"type":"usage_limit_reached","resets_at":1794758400,"resets_in_seconds":14400}}':
      '2026-11-15T16:00:00.000Z',
    '{"headers":{"X-RateLimit-Limit":"80","X-RateLimit-Reset":"1794758400000"}}': '2026-11-15T16:00:00.000Z',
    'anthropic-ratelimit-unified-reset: 1794758400': '2026-11-15T16:00:00.000Z',
    'Claude AI usage limit reached|1749924000': undefined,
    'request 1794758400 failed': undefined,
  })
})

test('a duration counts from now', () => {
  said({
    'Please try again in 20s.': '2026-11-15T12:00:20.000Z',
    'Rate limit reached for gpt-5 on requests per min. Please try again in 120ms.': '2026-11-15T12:00:00.120Z',
    'Please try again in 9m38.016s. Need more tokens?': '2026-11-15T12:09:38.016Z',
    'Please try again in 50.597142857s.': '2026-11-15T12:00:50.598Z',
    'Please retry in 41.93s.': '2026-11-15T12:00:41.930Z',
    'Please retry after 23 seconds.': '2026-11-15T12:00:23.000Z',
    'please try again after 1 seconds': '2026-11-15T12:00:01.000Z',
    'Please try again in 58 hours.': '2026-11-17T22:00:00.000Z',
    'Please try again in 15 hours 23 minutes.': '2026-11-16T03:23:00.000Z',
    'or try again in 5 days 22 hours 11\nminutes.': '2026-11-21T10:11:00.000Z',
    'try again in 1 day, 3 hours and 2 minutes': '2026-11-16T15:02:00.000Z',
    'Try again in less than a minute.': '2026-11-15T12:01:00.000Z',
    'try again in about an hour': '2026-11-15T13:00:00.000Z',
    'Your quota will reset after 15h14m39s.': '2026-11-16T03:14:39.000Z',
    'Individual quota reached. Resets in 157h': '2026-11-22T01:00:00.000Z',
    'Free usage exceeded, subscribe to Go\nretrying in 6h16m - attempt #1': '2026-11-15T18:16:00.000Z',
    'Too many requests, please wait 30 seconds before trying again': '2026-11-15T12:00:30.000Z',
    'map[@type:type.googleapis.com/google.rpc.RetryInfo retryDelay:34s]': '2026-11-15T12:00:34.000Z',
    '"retryDelay": "57s"': '2026-11-15T12:00:57.000Z',
    '\\"retryDelay\\": \\"34.07s\\"': '2026-11-15T12:00:34.070Z',
    '{"quotaResetDelay":"2h21m34.6s"}': '2026-11-15T14:21:34.600Z',
    'Retry-After: 30': '2026-11-15T12:00:30.000Z',
    '{"retry_after":1.5}': '2026-11-15T12:00:01.500Z',
    'retry-after-ms: 1500': '2026-11-15T12:00:01.500Z',
  })
})

test('a time of day needs its zone, and comes again when it has passed', () => {
  said({
    "You've hit your session limit · resets 3pm (America/Bogota)": '2026-11-15T20:00:00.000Z',
    'Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).': '2026-11-15T18:00:00.000Z',
    'resets 6am (America/New_York)': '2026-11-16T11:00:00.000Z',
    'Resets 12:59pm (America/New_York)': '2026-11-15T17:59:00.000Z',
    'resets 12am (UTC)': '2026-11-16T00:00:00.000Z',
    'Usage limit reached for gemini-3-flash. Access resets at 10:57 PM GMT-3.': '2026-11-16T01:57:00.000Z',
    'Access resets at 10:57\u202fPM PST.': '2026-11-16T06:57:00.000Z',
    'Access resets at 9:15 AM GMT+5:30.': '2026-11-16T03:45:00.000Z',
    'daily quota resets at midnight Pacific Time': '2026-11-16T08:00:00.000Z',
    'resets Monday 9am (Europe/London)': '2026-11-16T09:00:00.000Z',
    'resets Sun 9am (Europe/London)': '2026-11-22T09:00:00.000Z',
    'Claude usage limit reached. Your limit will reset at 12am.': undefined,
    '5-hour limit reached ∙ resets 3pm': undefined,
    'resets 25:00 (UTC)': undefined,
    'resets 13pm (UTC)': undefined,
    'resets 3pm (Middle/Earth)': undefined,
  })
})

test('a date is taken with its zone, of this year or the next', () => {
  said({
    'Resets Jan 12, 10:59am (America/New_York)': '2027-01-12T15:59:00.000Z',
    'Weekly limit reached ∙ resets Nov 19 at 10am (Europe/Berlin)': '2026-11-19T09:00:00.000Z',
    'You will regain access on 2026-12-01 at 00:00 UTC.': '2026-12-01T00:00:00.000Z',
    'resets at 2026-11-16T00:00:00Z': '2026-11-16T00:00:00.000Z',
    '"quotaResetTimeStamp": "2026-11-15T18:30:00+02:00"': '2026-11-15T16:30:00.000Z',
    'Retry-After: Wed, 18 Nov 2026 07:28:00 GMT': '2026-11-18T07:28:00.000Z',
    "You've hit your usage limit. Try again at Nov 16th, 2026 3:04 PM.": undefined,
    'Your limit will reset at 2026-11-16 14:32:11': undefined,
    'resets Feb 30, 1pm (UTC)': undefined,
    'resets at 2026-11-14T00:00:00Z': undefined,
    'resets at 2031-01-01T00:00:00Z': undefined,
  })
})

test('a CLI that is known to print local time is read in that zone', () => {
  said(
    {
      "You've hit your usage limit. Try again at Nov 16th, 2026 3:04 PM.": '2026-11-16T14:04:00.000Z',
      'or try again at 3:04 PM.': '2026-11-15T14:04:00.000Z',
      'resets 3pm (America/Bogota)': '2026-11-15T20:00:00.000Z',
    },
    now,
    'Europe/Berlin',
  )
})

test('clocks that jump do not move a reset', () => {
  const beforeSpring = Date.parse('2026-03-08T05:00:00Z')
  said({ 'resets 3pm (America/New_York)': '2026-03-08T19:00:00.000Z' }, beforeSpring)
  said({ 'resets 2:30am (America/New_York)': '2026-03-08T07:30:00.000Z' }, beforeSpring)
  const beforeAutumn = Date.parse('2026-10-31T20:00:00Z')
  said({ 'resets 3pm (America/New_York)': '2026-11-01T20:00:00.000Z' }, beforeAutumn)
  said({ 'resets 1:30am (America/New_York)': '2026-11-01T06:30:00.000Z' }, beforeAutumn)
})

test('the latest of several ends counts', () => {
  said({
    'Retry-After: 30, weekly limit resets at 2026-11-16T00:00:00Z': '2026-11-16T00:00:00.000Z',
  })
})

test('a text without a reset time gives none', () => {
  said({
    '': undefined,
    "This request would exceed your account's rate limit. Please try again later.": undefined,
    'Failed to get response from the AI model; retried 5 times (total retry wait time: 56.90 seconds)': undefined,
    'Please wait a few minutes and try again.': undefined,
    'try again tomorrow': undefined,
    'Request timed out after 30 seconds': undefined,
    'try again after 3': undefined,
  })
})

const words = fc.constantFrom(
  ...['resets', 'reset at', 'try again in', 'retry after', 'Retry-After:', 'wait', 'until', 'limit reached|', 'at'],
  ...[
    '3pm',
    '15:04',
    '(Europe/Berlin)',
    'UTC',
    'GMT-3',
    'Nov 16th,',
    '2026',
    '2026-11-16T',
    'Monday',
    'midnight',
    'an',
  ],
  ...['20s', '9m38.016s', '4 days', '1794758400', '999999999999', '1e400', 's', 'hours', ',', '.', '\\"', '\n'],
)
const anyMessage = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.array(fc.oneof(words, fc.string({ maxLength: 5 })), { maxLength: 30 }).map((parts) => parts.join(' ')),
)

test('for any text the reader never throws, and a time it finds lies ahead, within a year', () => {
  fc.assert(
    fc.property(anyMessage, fc.integer({ min: 0, max: 4e12 }), (message, at) => {
      const found = resetTime(message, at)
      assert.ok(found === undefined || (found > at && found <= at + 366 * 24 * 3_600_000))
    }),
    { numRuns: 2000 },
  )
})

test('a stated duration is exactly so far ahead', () => {
  fc.assert(
    fc.property(
      fc.nat(300),
      fc.nat(23),
      fc.nat(59),
      fc.integer({ min: 1, max: 59 }),
      (days, hours, minutes, seconds) => {
        const ms = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
        for (const text of [
          `${days}d${hours}h${minutes}m${seconds}s`,
          `${days} days ${hours} hours ${minutes} minutes ${seconds} seconds`,
        ])
          assert.equal(resetTime(`Please try again in ${text}.`, now), now + ms)
      },
    ),
  )
})

test('a time of day in any zone is shown there as it was said, less than 26 hours ahead', () => {
  const zones = fc.constantFrom('America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC')
  const moments = fc.integer({ min: Date.parse('2026-01-01T00:00:00Z'), max: Date.parse('2027-12-31T00:00:00Z') })
  fc.assert(
    fc.property(zones, moments, fc.integer({ min: 4, max: 23 }), fc.nat(59), (timeZone, at, hour, minute) => {
      const time = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
      const found = resetTime(`resets ${time} (${timeZone})`, at)!
      const shown = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(found)
      assert.equal(shown, time)
      assert.ok(found > at && found - at < 26 * 3_600_000)
    }),
  )
})
