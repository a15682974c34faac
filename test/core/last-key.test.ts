import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../hand-clock.ts'
import { LastKey } from '../../src/core/screen/last-key.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'

const yearMs = 31_536_000_000

test('the age of a key is right, however the clock is set', async () => {
  const clock = new HandClock()
  const host = scriptedTerminals(
    () => async (tty) => {
      while ((await tty.read()) !== undefined);
      return 0
    },
    clock,
  )
  const terminal = await host.open('cat', { cwd: '/' })
  const keys = new LastKey(clock)
  assert.equal(await keys.in(terminal), -Infinity)
  await terminal.write('a', true)
  await clock.turn(2_000)
  assert.equal(await keys.in(terminal), 0)
  for (const ms of [yearMs, -2 * yearMs]) {
    clock.set(clock.now() + ms)
    await clock.turn(1_000)
    assert.equal(await keys.in(terminal), 0)
  }
  await terminal.write('b', true)
  assert.equal(await keys.in(terminal), 4_000)
  assert.equal(await keys.in(undefined), 4_000, 'a closed terminal does not make its last key forgotten')
  // A key that was first seen after the clock was set back counts as pressed at that moment.
  await terminal.write('c', true)
  clock.set(clock.now() - yearMs)
  await clock.turn(500)
  assert.equal(await new LastKey(clock).in(terminal), 4_500)
  await host.close()
})
