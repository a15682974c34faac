import type { TestContext } from 'node:test'
import { pathOf } from '../system-path.ts'
import type { NativeParts } from '../../src/native/native-parts.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { machineFacts, machineOf, scanAtStart } from '../../src/native/machine-facts.ts'
import { closeNative, newNativeState } from '../../src/native/native-parts.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { programs } from '../machine/folder.ts'
import { until } from '../until.ts'

type MachineParts = Parameters<typeof machineOf>[0]

/** The delay of a start is turned by hand; the limits of the programs of a scan really pass, and are generous. */
class StartClock extends HandClock {
  readonly sleeps: number[] = []
  readonly begin = Promise.withResolvers<void>()

  override sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    this.sleeps.push(ms)
    if (this.sleeps.length > 1) return realClock.sleep(20 * ms, signal)
    return Promise.race([
      this.begin.promise,
      new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true })),
    ])
  }
}

/** A start on a machine whose only program notes each time that it is run. */
function started(t: TestContext, start: (parts: MachineParts) => unknown = scanAtStart) {
  const bin = programs(t, { git: 'echo ran >> "$0.ran"; echo git version 2.0.1' })
  const clock = new StartClock()
  const env = { PATH: pathOf(bin), SHELL: '/bin/sh' }
  const parts = { store: memoryStore(), env, clock, state: newNativeState(), root: '/nowhere' }
  const ran = join(bin, 'git.ran')
  void start(parts)
  return { parts, clock, ran, runs: () => (existsSync(ran) ? readFileSync(ran, 'utf8').split('\n').length - 1 : 0) }
}

test('the first start scans the machine behind everything else, once, and keeps the facts', async (t) => {
  const { parts, clock, ran, runs } = started(t)
  await until(() => clock.sleeps.length === 1)
  // A scan that waits for its turn is not begun twice, and no program runs before it.
  scanAtStart(parts)
  assert.deepEqual([clock.sleeps, runs()], [[3000], 0])
  clock.begin.resolve()
  await until(() => parts.state.machine.scan === undefined)
  assert.equal((await machineOf(parts).known()).fresh, true)
  assert.ok(runs() > 0)
  rmSync(ran)
  const again = { ...parts, state: newNativeState(), clock: new StartClock() }
  again.clock.begin.resolve()
  scanAtStart(again)
  await until(() => again.state.machine.scan === undefined)
  assert.equal(runs(), 0)
})

test('a run that ends before the scan begins never pays for it', async (t) => {
  const { parts, clock, runs } = started(t)
  await until(() => clock.sleeps.length === 1)
  await closeNative(parts)
  clock.begin.resolve()
  assert.deepEqual([runs(), (await machineOf(parts).known()).fresh], [0, false])
})

test('a turn whose answer comes before the scan begins never pays for it, and the scan waits for the request', async (t) => {
  const asked = Promise.withResolvers<void>()
  const { parts, clock, runs } = started(t, (parts) => machineFacts(parts as NativeParts, asked.promise))
  // What is known at once has short limits of its own.
  const delays = () => clock.sleeps.filter((ms) => ms >= 1000)
  await until(() => parts.state.machine.scan !== undefined)
  assert.deepEqual(delays(), [])
  asked.resolve()
  await until(() => delays().length === 1)
  await closeNative(parts)
  clock.begin.resolve()
  assert.deepEqual([delays(), runs(), (await machineOf(parts).known()).fresh], [[1000], 0, false])
})
