import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../hand-clock.ts'
import { Lateness } from '../../src/core/screen/lateness.ts'

const never = new AbortController().signal

/** Sleeps once on a clock whose timers are late by `lateMs`. */
async function lateSleep(lateness: Lateness, clock: HandClock, lateMs: number): Promise<void> {
  const { sleep } = clock
  clock.sleep = (ms, signal) => sleep.call(clock, ms + lateMs, signal)
  const slept = lateness.sleep(100, never)
  await clock.turn(100 + lateMs)
  await slept
  clock.sleep = sleep
}

test('a machine whose timers are late is waited for longer, and one late timer alone is chance', async () => {
  const clock = new HandClock()
  const lateness = new Lateness(clock)
  assert.equal(lateness.stretch, 1)
  await lateSleep(lateness, clock, 50)
  assert.equal(lateness.stretch, 1)
  await lateSleep(lateness, clock, 10)
  assert.equal(lateness.stretch, 3)
  await lateSleep(lateness, clock, 1_000)
  assert.equal(lateness.stretch, 8)
  for (let time = 0; time < 16; time++) await lateSleep(lateness, clock, 1)
  assert.equal(lateness.stretch, 1)
})

test('a read that takes longer than the quickest one counts as late; a sleep that was ended does not', async () => {
  const clock = new HandClock()
  const lateness = new Lateness(clock)
  for (const ms of [30, 3, 9, 9]) lateness.noteRead(ms)
  assert.equal(lateness.stretch, 2)
  const stop = new AbortController()
  const slept = [1, 2].map(() => lateness.sleep(1, stop.signal))
  stop.abort()
  await Promise.all(slept)
  assert.equal(lateness.stretch, 2)
})

test('a clock that is set while a sleep lasts makes the machine neither late nor early', async () => {
  const clock = new HandClock()
  const lateness = new Lateness(clock)
  for (const yearMs of [31_536_000_000, 31_536_000_000, -31_536_000_000]) {
    const slept = lateness.sleep(100, never)
    clock.set(clock.now() + yearMs)
    await clock.turn(100)
    await slept
    assert.equal(lateness.stretch, 1)
  }
})
