import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { StoreError } from '../../src/core/talk/store.ts'
import { Machine } from '../../src/machine/machine.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { programs } from './folder.ts'

const hour = 3_600_000

/** Stands still until it is turned. Only the limits of what really runs pass, twenty times as long as on a machine that is not busy. */
class Today extends HandClock {
  override sleep = (ms: number, signal?: AbortSignal) => realClock.sleep(20 * ms, signal)
}

function grounds(t: TestContext) {
  const bin = programs(t, { git: 'echo git version 2.0.1' })
  const clock = new Today()
  const store = memoryStore()
  const parts = { env: { PATH: bin, SHELL: '/bin/sh' }, clock, root: false }
  return {
    bin,
    clock,
    store,
    machine: new Machine(store, parts, 'here'),
    open: (host = 'here', env = parts.env) => new Machine(store, { ...parts, env }, host),
  }
}

test('the scanned facts are known for a day, by every process of this machine', async (t) => {
  const { bin, clock, machine, open } = grounds(t)
  const path = join(bin, 'git')
  const first = await machine.known()
  assert.deepEqual([first.spec.binaries, first.scannedAt, first.fresh], [{ git: { path } }, undefined, false])
  const { spec, scannedAt } = await machine.scan()
  assert.deepEqual(spec.binaries, { git: { path, version: '2.0.1' } })
  rmSync(path)
  assert.deepEqual(await open().known(), { spec, scannedAt, fresh: true })
  await clock.turn(24 * hour + 1)
  assert.deepEqual(await open().known(), { spec, scannedAt, fresh: false })
})

test('another machine on the same home, or another PATH, is not told what this one can do', async (t) => {
  const { machine, open } = grounds(t)
  await machine.scan()
  const there = await open('there').known()
  assert.deepEqual([there.scannedAt, there.fresh], [undefined, false])
  const elsewhere = await open('here', { PATH: '/nowhere', SHELL: '/bin/sh' }).known()
  assert.deepEqual([elsewhere.spec.binaries, elsewhere.fresh], [{}, false])
})

test('a person who has it scanned anew is remembered; a scan by itself forgets that not', async (t) => {
  const { clock, machine, open } = grounds(t)
  await machine.scan()
  assert.equal((await open().known()).asked, undefined)
  const { scannedAt } = await machine.scan({ asked: true })
  await clock.turn(hour)
  await machine.scan()
  assert.equal((await open().known()).asked, scannedAt)
  assert.equal((await open('there').known()).asked, scannedAt)
})

test('a scan that was asked for while one by itself runs is one of its own', async (t) => {
  const { machine, open } = grounds(t)
  await Promise.all([machine.scan(), machine.scan({ asked: true })])
  assert.notEqual((await open().known()).asked, undefined)
})

test('facts that cannot be kept or read are reported, and stop nothing', async (t) => {
  const { machine, store, bin } = grounds(t)
  const broken = () => Promise.reject(new StoreError('the disk is read-only'))
  const full = { ...store, doc: () => ({ read: broken, update: broken }) }
  const parts = { env: { PATH: bin }, clock: realClock, root: false }
  const scanned = await new Machine(full, parts).scan()
  assert.equal(scanned.unkept, 'the disk is read-only')
  assert.equal((await new Machine(full, parts).known()).fresh, false)
  await store.doc('system-spec', {}).update(() => ({ of: 'something else' }))
  assert.equal((await machine.known()).scannedAt, undefined)
  await machine.scan()
  assert.equal((await machine.known()).fresh, true)
})
