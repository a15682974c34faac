import { test } from 'node:test'
import assert from 'node:assert/strict'
import { TypingPause } from '../../src/questions/typing-pause.ts'

test('a key that waited in the terminal while the machine stood still begins the pause anew', async () => {
  let now = 0
  const slept: number[] = []
  const clock = {
    now: () => now,
    elapsed: () => now,
    /** The first sleep ends late, and the key that was typed meanwhile is read after it. */
    sleep: async (ms: number) => {
      slept.push(ms)
      now += slept.length === 1 ? 5_000 : ms
      if (slept.length === 1) setImmediate(() => pause.typed())
    },
  }
  const pause = new TypingPause(clock)
  await pause.over(new AbortController().signal)
  assert.deepEqual([slept, now], [[400, 400], 5_400])
})
