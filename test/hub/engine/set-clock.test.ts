import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import { HandClock } from '../../hand-clock.ts'
import { HubKeys } from '../../../src/hub/engine/access/hub-keys.ts'
import { fileHubLedger, memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { hubAt } from './seat.ts'

const minute = 60_000
const hour = 60 * minute

/** A hub with a task that agent a has acknowledged, one that was offered to b, and one that waits for a as it is meant for a. */
async function busyHub(t: { after(work: () => unknown): void }, ledger?: HubLedger, clock?: HandClock) {
  const at = hubAt(t, ledger, clock)
  const { hub, register, wait, add } = at
  await register('a')
  await register('b')
  const { id: working } = await add('x')
  await wait('a')
  await hub.work.ack(working, 'a')
  const { id: offered } = await add('y')
  await wait('b')
  const { id: meant } = await add('z', { wish: 'a' })
  const states = () => Promise.all([working, offered, meant].map(async (id) => (await hub.task(id)).state))
  assert.deepEqual(await states(), ['ASSIGNED', 'PENDING_ACK', 'QUEUED'])
  return { ...at, working, offered, meant, states }
}

for (const hours of [2, -2])
  describe(`a clock that is set by ${hours} hours`, () => {
    test('neither ends a lease early nor keeps one longer, while the hub runs', async (t) => {
      const { clock, hub, working, states } = await busyHub(t)
      clock.set(clock.now() + hours * hour)
      await clock.turn(29_999)
      assert.deepEqual(await states(), ['ASSIGNED', 'PENDING_ACK', 'QUEUED'])
      await clock.turn(1)
      assert.deepEqual(await states(), ['ASSIGNED', 'QUEUED', 'QUEUED'])
      await clock.turn(29 * minute)
      assert.deepEqual(await states(), ['ASSIGNED', 'QUEUED', 'QUEUED'])
      await clock.turn(minute)
      assert.equal((await hub.task(working)).state, 'QUEUED')
    })

    test('changes neither who is present nor how long a task waits for the agent it is meant for', async (t) => {
      const { clock, hub, wait, register, add } = hubAt(t)
      await register('a')
      await register('b')
      const { id } = await add('z', { wish: 'a' })
      clock.set(clock.now() + hours * hour)
      const other = wait('b')
      await clock.turn(290_000)
      assert.deepEqual([(await hub.agentNow('a')).about, (await hub.task(id)).state], [true, 'QUEUED'])
      assert.equal((await other).type, 'idle')
      const later = wait('b')
      await clock.turn(minute)
      assert.equal((await hub.agentNow('a')).about, false)
      assert.equal((await later).type, 'task')
    })

    test('is coped with when it was set while the hub was away', async (t) => {
      const before = await busyHub(t)
      const { clock, ledger, working, offered } = before
      await before.close()
      clock.set(clock.now() + hours * hour)
      const { hub } = hubAt(t, ledger, clock)
      const states = () => Promise.all([working, offered].map(async (id) => (await hub.task(id)).state))
      await clock.turn(29_999)
      assert.deepEqual(await states(), ['ASSIGNED', 'PENDING_ACK'])
      await clock.turn(9 * minute)
      // An agent that lives is heard in time and keeps its task; the dead one's goes back, at the latest after one lease.
      assert.deepEqual(await states(), ['ASSIGNED', 'QUEUED'])
      await hub.work.progress(working, 'a', 'still here')
      await clock.turn(29 * minute)
      assert.equal((await hub.task(working)).state, 'IN_PROGRESS')
      await clock.turn(minute)
      assert.equal((await hub.task(working)).state, 'QUEUED')
    })

    test('leaves the steps and notes of a task in their order', async (t) => {
      const { clock, hub, register, wait, add } = hubAt(t)
      await register('a')
      const { id } = await add('x')
      await wait('a')
      await hub.work.ack(id, 'a')
      await hub.work.progress(id, 'a', 'half')
      clock.set(clock.now() + hours * hour)
      await hub.work.progress(id, 'a', 'more')
      const {
        history,
        notes,
        tries = [],
        moved,
      } = await hub.work.respond(id, 'a', {
        status: 'COMPLETED',
        message: 'done',
      })
      for (const times of [history.map(({ at }) => at), notes.map(({ at }) => at), [tries[0]!.began, tries[0]!.ended!]])
        assert.deepEqual(
          times,
          times.toSorted((one, other) => one - other),
        )
      assert.equal(moved, history.at(-1)!.at)
    })

    test('ends no lent key early, and keeps none longer', async () => {
      const clock = new HandClock()
      const own = { secret: () => 'own', made: () => 0, renew: () => {}, file: 'own-key' }
      const keys = new HubKeys({ book: memoryHubLedger().keys, own, clock })
      const user = { id: 'own', name: 'user', role: 'admin' } as const
      const { secret } = await keys.lend('orc', user)
      const name = async () => (await keys.callerOf(secret))?.name
      clock.set(clock.now() + 40 * hours * hour)
      assert.equal(await name(), 'orc')
      await clock.turn(24 * hour)
      assert.equal(await name(), 'orc')
      await clock.turn(24 * hour + 1)
      assert.equal(await name(), undefined)
    })
  })

test('a dead agent loses its task 10 minutes after a start for which the clock was set forward, and 30 after one set back', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-clock-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [hours, minutes] of [
    [2, 10],
    [-2, 30],
  ] as const) {
    const clock = new HandClock()
    const path = join(folder, `${hours}.db`)
    const ledger = fileHubLedger(path, { clock })
    const before = await busyHub(t, ledger, clock)
    const { working } = before
    await before.close()
    await ledger.close()
    clock.set(clock.now() + hours * hour)
    const { hub } = hubAt(t, fileHubLedger(path, { clock }), clock)
    await clock.turn(minutes * minute - 1)
    assert.equal((await hub.task(working)).state, 'ASSIGNED')
    await clock.turn(1)
    assert.equal((await hub.task(working)).state, 'QUEUED')
  }
})
