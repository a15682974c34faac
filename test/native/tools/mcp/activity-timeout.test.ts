import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandClock } from '../../../hand-clock.ts'
import { ActivityTimeout } from '../../../../src/native/tools/mcp/activity-timeout.ts'

const forever = Number.MAX_SAFE_INTEGER

test('silence ends it, a sign of life begins it anew', async () => {
  const clock = new HandClock(0)
  const patience = new ActivityTimeout(1_000, forever, clock, new AbortController().signal)
  await clock.turn(900)
  patience.touch()
  await clock.turn(900)
  assert.deepEqual([patience.expired, patience.signal.aborted], [false, false])
  await clock.turn(100)
  assert.deepEqual([patience.expired, patience.signal.aborted], [true, true])
})

test('the timeout stands still while a person thinks, but not beyond the end of the caller', async () => {
  const clock = new HandClock(0)
  const patience = new ActivityTimeout(1_000, 10_000, clock, new AbortController().signal)
  const thought = Promise.withResolvers<void>()
  const paused = patience.whilePaused(() => thought.promise)
  await clock.turn(9_000)
  assert.equal(patience.expired, false)
  thought.resolve()
  await paused
  await clock.turn(500)
  assert.equal(patience.expired, false)
  await clock.turn(500)
  assert.equal(patience.expired, true)
})

test("the caller's signal aborts without the time being up; an ended timeout leaves no sleeper", async () => {
  const clock = new HandClock(0)
  const leaving = new AbortController()
  const patience = new ActivityTimeout(1_000, forever, clock, leaving.signal)
  leaving.abort()
  assert.deepEqual([patience.expired, patience.signal.aborted], [false, true])
  patience.end()
  await clock.turn(0)
  assert.equal(clock.asleep, 0)
})
