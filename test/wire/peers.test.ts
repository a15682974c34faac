import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { RunningTurns } from '../../src/core/turns/running-turns.ts'
import { peerOf, peers, serveTurns, socketsOf } from '../../src/wire/peer/peers.ts'

test('a turn has the first moment to itself, and one that is over by then is never served', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const clock = new HandClock()
  const short = serveTurns(home, new RunningTurns(), clock)
  await clock.turn(50)
  await short.close()
  assert.deepEqual([clock.asleep, existsSync(join(home, 'run'))], [0, false])
  const long = serveTurns(home, new RunningTurns(), clock)
  await clock.turn(100)
  while ((await socketsOf(home)).length === 0) await new Promise(setImmediate)
  // A process is no peer of its own.
  assert.deepEqual([await peers(home, realClock), await peerOf(home, 't1', realClock)], [[], undefined])
  await long.close()
  assert.deepEqual([await socketsOf(home), clock.asleep], [[], 0])
})
