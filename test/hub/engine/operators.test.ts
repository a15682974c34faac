import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import type { Given } from '../../../src/hub/model/hub-state.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { realClock } from '../../../src/base/time/clock.ts'
import { HandClock, settled } from '../../hand-clock.ts'
import { wholeHub } from '../../../src/hub/model/tasks/machine-rules.ts'
import { waitReason } from '../../../src/hub/model/tasks/task-wait.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { postgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { postgresLedger } from '../../../src/hub/ledgers/postgres/postgres-ledger.ts'
import { fileHubLedger, memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { sized } from '../../full.ts'
import { sharedPostgres, skipWithoutPostgres } from '../../postgres.ts'
import { tempFolder } from '../../store/temp.ts'
import { until } from '../../until.ts'
import { hubAt } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const words = (given: Given) => (given.type === 'task' ? given.task.prompt : given.type)

/** Why each queued task waits. */
async function reasons(hub: Hub): Promise<string[]> {
  const state = await hub.state()
  const tasks = new Map(state.tasks.map((task) => [task.id, task]))
  return state.tasks.flatMap((task) => (task.state === 'QUEUED' ? [waitReason(task, { ...state, tasks })] : []))
}

/** The task that a waiting agent has been given so far. */
function given(wait: Promise<Given>): { now(): string } {
  let got = 'waits'
  void wait.then((one) => (got = words(one)))
  return { now: () => got }
}

test('a paused agent goes on with its task and gets no other one until it is resumed', async (t) => {
  const { hub, register, wait, add, published, clock } = hubAt(t)
  await register('a')
  const first = await add('first')
  assert.equal(words(await wait('a')), 'first')
  await hub.work.ack(first.id, 'a')
  const at = clock.now()
  const { paused } = await hub.operators.pauseAgent('a', { by: 'anna', why: 'disk full', drains: true })
  assert.deepEqual(paused, { by: 'anna', at, why: 'disk full', drains: true })
  await add('second')
  assert.equal((await hub.work.respond(first.id, 'a', { status: 'COMPLETED', message: 'done' })).state, 'COMPLETED')
  const waiting = given(wait('a'))
  await settled()
  assert.deepEqual(
    [waiting.now(), (await hub.agentNow('a')).rests, await reasons(hub)],
    [
      'waits',
      { of: 'agent', pause: paused },
      ['waits for an agent; 1 knows the workspace and is drained by anna (disk full)'],
    ],
  )
  // Messages still come, and to register again changes nothing.
  await hub.orders.message('a', 'hello', 'anna')
  await settled()
  assert.equal(waiting.now(), 'told')
  assert.deepEqual((await register('a')).paused, paused)
  const again = given(wait('a'))
  await settled()
  assert.equal(again.now(), 'waits')
  await hub.operators.resumeAgent('a')
  await settled()
  assert.equal(again.now(), 'second')
  await assert.rejects(hub.operators.resumeAgent('a'), /Agent a is not paused/)
  await assert.rejects(hub.operators.pauseAgent('b', { by: 'anna' }), /No agent b is registered/)
  assert.ok(published.some((change) => change.type === 'agent' && change.agent.paused?.by === 'anna'))
})

test('a task that is meant for a paused agent goes to another one', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  await register('b')
  const [a, b] = [given(wait('a')), given(wait('b'))]
  await settled()
  await hub.operators.pauseAgent('a', { by: 'anna' })
  await add('build', { wish: 'a' })
  await settled()
  assert.deepEqual([a.now(), b.now()], ['waits', 'build'])
})

test('the pause of a machine and that of the hub are kept, wake nobody, and end with resume', async (t) => {
  const path = `${tempFolder(t)}/hub.db`
  const clock = new HandClock()
  const first = hubAt(t, fileHubLedger(path, { clock }), clock)
  await first.register('a', { machine: 'build-7' })
  await first.register('b', { machine: 'desk' })
  await first.hub.operators.pause('build-7', { by: 'anna', why: 'disk full' })
  await first.close()
  await first.ledger.close()

  const { hub, wait, add, published, close, ledger } = hubAt(t, fileHubLedger(path, { clock }), clock)
  const at = { by: 'anna', at: clock.now() }
  const [a, b] = [given(wait('a')), given(wait('b'))]
  await settled()
  await add('one')
  await settled()
  await add('two')
  await settled()
  assert.deepEqual(
    [a.now(), b.now(), await reasons(hub)],
    [
      'waits',
      'one',
      ['waits for an agent; 2 know the workspace: a is on build-7, which is paused by anna (disk full), and b is busy'],
    ],
  )
  await hub.operators.pause(wholeHub, { by: 'ben' })
  await hub.operators.resume('build-7')
  await settled()
  assert.deepEqual(
    [a.now(), await reasons(hub), (await hub.agentNow('a')).rests],
    ['waits', ['waits: the hub is paused by ben'], { of: 'hub', pause: { by: 'ben', at: clock.now() } }],
  )
  await hub.operators.resume(wholeHub)
  await settled()
  assert.equal(a.now(), 'two')
  await assert.rejects(hub.operators.resume(wholeHub), /The hub is not paused/)
  await assert.rejects(hub.operators.resume('desk'), /Machine desk is not paused/)
  assert.deepEqual(
    published.flatMap((change) => (change.type === 'machine' ? [change.rules] : [])),
    [{ machine: wholeHub, pause: { ...at, by: 'ben' } }, { machine: 'build-7' }, { machine: wholeHub }],
  )
  await close()
  await ledger.close()
})

test('labels of a machine are capabilities of its agents', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a', { machine: 'build-7', capabilities: ['code'] })
  await register('b', { machine: 'desk', capabilities: ['code'] })
  const [a, b] = [given(wait('a')), given(wait('b'))]
  await settled()
  await add('train', { capabilities: ['gpu', 'code'] })
  await settled()
  assert.deepEqual(
    [a.now(), b.now(), await reasons(hub)],
    ['waits', 'waits', ['waits for an agent with `gpu` and `code`; 2 know the workspace, both do not have `gpu`']],
  )
  assert.deepEqual(await hub.operators.set('build-7', { labels: ['gpu', 'docker', 'gpu'] }), {
    machine: 'build-7',
    labels: ['gpu', 'docker'],
  })
  await settled()
  assert.deepEqual([a.now(), b.now()], ['train', 'waits'])
  assert.deepEqual(await hub.operators.set('build-7', { limit: 2 }), {
    machine: 'build-7',
    labels: ['gpu', 'docker'],
    limit: 2,
  })
  assert.deepEqual(await hub.operators.set('build-7', { labels: [], limit: 0 }), { machine: 'build-7' })
})

test('a machine has no more tasks than its limit, and the next one is given out when one ends', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await hub.operators.set('build-7', { limit: 2 })
  const waits = new Map<string, { now(): string }>()
  for (const id of ['a', 'b', 'c']) {
    await register(id, { machine: 'build-7' })
    waits.set(id, given(wait(id)))
  }
  await settled()
  const tasks = [await add('one'), await add('two'), await add('three')]
  await settled()
  const now = () => [...waits.values()].map((one) => one.now())
  golden(t, [now(), await reasons(hub)])
  await hub.work.respond(tasks[0]!.id, 'a', { status: 'COMPLETED', message: 'done' })
  await settled()
  assert.deepEqual(now(), ['one', 'two', 'three'])
  await add('four')
  waits.set('d', given(register('d', { machine: 'build-7' }).then(() => wait('d'))))
  await settled()
  assert.deepEqual(now(), ['one', 'two', 'three', 'waits'])
  await hub.operators.set('build-7', { limit: 3 })
  await settled()
  assert.deepEqual(now(), ['one', 'two', 'three', 'four'])
})

test('an order at one hub holds at the other, and a task that ends there makes room here', async (t) => {
  const clock = new HandClock()
  const ledger: HubLedger = memoryHubLedger({ clock })
  const [one, two] = [hubAt(t, ledger, clock), hubAt(t, ledger, clock)]
  await one.register('a', { machine: 'm' })
  await two.register('b', { machine: 'm' })
  const a = given(one.wait('a'))
  await settled()
  await two.hub.operators.pauseAgent('a', { by: 'anna' })
  const first = await two.add('first')
  await settled()
  assert.equal(a.now(), 'waits')
  await two.hub.operators.resumeAgent('a')
  await settled()
  assert.equal(a.now(), 'first')
  await two.hub.operators.set('m', { limit: 1 })
  const b = given(two.wait('b'))
  await one.add('second')
  await settled()
  assert.equal(b.now(), 'waits')
  await one.hub.work.respond(first.id, 'a', { status: 'COMPLETED', message: 'done' })
  await settled()
  assert.equal(b.now(), 'second')
})

test(
  'two hubs of one database that give out tasks at the same moment keep to the limit, and to a pause',
  { skip: skipWithoutPostgres },
  async (t) => {
    const address = postgresAddress(await (await sharedPostgres()).database(), { env: {} })
    const stop = new AbortController()
    const over: Promise<unknown>[] = []
    const hubs = await Promise.all(
      ['one', 'two'].map(async (id) => {
        const ledger = await postgresLedger(address)
        const hub = new Hub({ ledger, clock: realClock, id, published: () => {} })
        over.push(hub.run(stop.signal).then(() => ledger.close()))
        return hub
      }),
    )
    t.after(async () => {
      stop.abort()
      await Promise.all(over)
    })
    const [first] = hubs as [Hub, Hub]
    const limit = 3
    const total = sized(40, 400)
    await first.operators.set('m', { limit })
    let held = 0
    let most = 0
    let done = 0
    let isPaused = false
    const late: string[] = []
    const { signal } = stop
    const agents = Array.from({ length: 10 }, (_, at) => `agent-${at}`)
    const work = agents.map(async (id, at) => {
      const hub = hubs[at % 2]!
      await hub.register({ id, role: 'dev', capabilities: [], workspace: 'w', source: 'CLI', machine: 'm' })
      while (!signal.aborted) {
        const got = await hub.wait(id, realClock.elapsed() + 60_000, signal)
        if (got.type !== 'task') continue
        if (isPaused) late.push(got.task.prompt)
        most = Math.max(most, ++held)
        await hub.work.ack(got.task.id, id)
        // The count goes down before the hub knows, so that it is never too high.
        held--
        await hub.work.respond(got.task.id, id, { status: 'COMPLETED', message: 'done' })
        done++
      }
    })
    over.push(Promise.all(work))
    await Promise.all(
      Array.from({ length: total }, (_, at) => hubs[at % 2]!.add({ prompt: `task ${at}`, workspace: 'w', by: 'me' })),
    )
    await until(() => done >= total / 2)
    await first.operators.pause('m', { by: 'anna' })
    // An answer that was on its way when the pause was ordered may still arrive; a task that was given out later may not.
    const before = await first.state({ states: ['PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS'] })
    await until(async () => (await first.state()).agents.every(({ task }) => task === undefined))
    isPaused = true
    const queued = (await first.tasks({ states: ['QUEUED'] })).length
    await Promise.all(hubs.map((hub) => hub.operators.set('m', { limit })))
    assert.equal((await first.tasks({ states: ['QUEUED'] })).length, queued)
    // An agent hears that its answer was taken a moment after everybody can see it.
    await until(() => done === total - queued)
    assert.ok(before.tasks.length <= limit)
    isPaused = false
    await hubs[1]!.operators.resume('m')
    await until(() => done === total)
    assert.deepEqual([late, most <= limit, most > 1], [[], true, true])
  },
)
