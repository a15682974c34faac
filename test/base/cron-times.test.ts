import { test } from 'node:test'
import assert from 'node:assert/strict'
import { loadCronTimes } from '../../src/base/time/cron-times.ts'
import { durationMs, durationText } from '../../src/base/time/duration.ts'

test('a cron pattern comes at the time that clocks in its zone show, also when these are set', async () => {
  const { next } = await loadCronTimes()
  const after = (time: string, pattern = '30 2 * * *') => {
    const at = next(pattern, 'Europe/Berlin', Date.parse(time))
    return at === undefined ? undefined : new Date(at).toISOString()
  }
  assert.equal(after('2026-03-27T12:00:00Z'), '2026-03-28T01:30:00.000Z')
  // A time that clocks skip comes when they are set; one that clocks show twice comes once.
  assert.equal(after('2026-03-28T12:00:00Z'), '2026-03-29T01:00:00.000Z')
  assert.equal(after('2026-03-29T12:00:00Z'), '2026-03-30T00:30:00.000Z')
  assert.equal(after('2026-10-24T12:00:00Z'), '2026-10-25T00:30:00.000Z')
  assert.equal(after('2026-10-25T00:30:00Z'), '2026-10-26T01:30:00.000Z')
  assert.equal(after('2026-11-16T12:00:00Z', '@daily'), '2026-11-16T23:00:00.000Z')
  assert.equal(after('2026-11-16T12:00:00Z', '0 0 30 2 *'), undefined)
  assert.throws(() => after('2026-11-16T12:00:00Z', '* * *'), /five, six, or seven/)
})

test('durations are read as they are written', () => {
  const texts = ['90s', '15m', '1h30m', '2d', '0s', '', '5', '1.5h', '1h 5m', 'h', '-1h']
  assert.deepEqual(texts.map(durationMs), [
    90_000,
    900_000,
    5_400_000,
    172_800_000,
    0,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  assert.deepEqual([0, 999, 61_000, 5_400_000, 90_061_000].map(durationText), ['0s', '1s', '1m1s', '1h30m', '1d1h1m1s'])
})
