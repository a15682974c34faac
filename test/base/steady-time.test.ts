import { test } from 'node:test'
import assert from 'node:assert/strict'
import { SteadyTime } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'

const yearMs = 31_536_000_000

test('steady time goes on evenly from the time of day at which it began, however the clock is set', async () => {
  const clock = new HandClock(yearMs)
  await clock.turn(100)
  const time = new SteadyTime(clock)
  const seen = [time.now()]
  for (const shiftMs of [yearMs, -2 * yearMs, yearMs]) {
    clock.set(clock.now() + shiftMs)
    await clock.turn(50)
    seen.push(time.now())
  }
  assert.deepEqual(
    seen.map((at) => at - yearMs),
    [100, 150, 200, 250],
  )
})

test('a moment by the time of day keeps its age in steady time, and never lies ahead', async () => {
  const clock = new HandClock(yearMs)
  const time = new SteadyTime(clock)
  clock.set(clock.now() + 5 * yearMs)
  assert.equal(time.of(clock.now()), yearMs)
  assert.equal(time.of(clock.now() - 300), yearMs - 300)
  assert.equal(time.of(clock.now() + 300), yearMs)
})
