import type { AgentStanding } from '../../../src/hub/model/tasks/agent-status.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../../hand-clock.ts'
import { agentStandings } from '../../../src/hub/engine/agent-standings.ts'
import { agentState, stateWords } from '../../../src/hub/model/tasks/agent-status.ts'
import { StatusReports } from '../../../src/supervise/agent/supervised-agent.ts'
import { ticketOf } from '../../../src/hub/engine/rules/task-rules.ts'
import { hubAt, loaded, noticed } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const minute = 60_000

test('one rule says the state of an agent: a question first, then its quota, then its work', () => {
  const now = 1_000
  const parked = { parkedUntil: 5_000 }
  const states = [
    { about: false },
    { about: true },
    { about: true, waits: true },
    { about: false, task: 't' },
    { about: true, task: 't', status: parked },
    { about: true, task: 't', status: { parkedUntil: 900 } },
    { about: true, task: 't', status: parked, asks: {} },
    { about: false, status: parked, asks: {} },
  ].map((agent) => agentState(agent, now))
  assert.deepEqual(states, ['offline', 'idle', 'waiting', 'working', 'parked', 'working', 'asking', 'offline'])
  assert.equal(
    stateWords({ about: true, status: parked }, now, (at) => `${at} ms`),
    'parked until 5000 ms',
  )
})

test('an agent reports its status; a repeated report is not written, and a report shows that the agent is there', async (t) => {
  const { hub, clock, register, published, ledger } = hubAt(t)
  await register('orc', { machine: 'anna-laptop' })
  await hub.reports.status('orc', { contextLeft: 0.4, parkedUntil: clock.now() + minute, parkedWhy: 'limit reached' })
  const status = {
    machine: 'anna-laptop',
    contextLeft: 0.4,
    parkedUntil: clock.now() + minute,
    parkedWhy: 'limit reached',
    parkedAt: clock.now(),
  }
  assert.deepEqual((await hub.agent('orc')).status, status)
  assert.deepEqual((await loaded(ledger)).agents[0]?.status, status)
  const before = published.length
  await clock.turn(4 * minute)
  await hub.reports.status('orc', { machine: 'anna-laptop', parkedUntil: status.parkedUntil })
  await clock.turn(4 * minute)
  assert.deepEqual([published.length - before, (await hub.agentNow('orc')).about], [0, true])
  await hub.reports.status('orc', { parkedUntil: 0, machine: 'x'.repeat(5_000) })
  assert.deepEqual((await hub.agent('orc')).status, { machine: 'x'.repeat(200), contextLeft: 0.4 })
  // The agent's CLI registers again by itself, without a machine.
  await register('orc')
  assert.equal((await hub.agent('orc')).status?.contextLeft, 0.4)
})

test('a supervised agent tells the hub until when it is parked, and that it goes on', async (t) => {
  const { hub, clock, register } = hubAt(t)
  const as = { id: 'orc', role: 'orc', capabilities: [], workspace: 'w', source: 'CLI' as const }
  await register('orc')
  const status = new StatusReports({
    hub: { report: async (id, told) => hub.reports.status(id, told).then(() => ({})) },
    as: { ...as, machine: 'box' },
    clock,
    window: 200_000,
    free: () => 12_345_678_901,
  })
  const over = new AbortController()
  const keeping = status.keep(over.signal)
  status.see({ type: 'working' })
  status.see({ type: 'parked', until: 70_000, why: 'limit' })
  await settled()
  const parkedAt = clock.now()
  assert.deepEqual((await hub.agent('orc')).status, {
    machine: 'box',
    diskFree: 12_000_000_000,
    parkedUntil: 70_000,
    parkedWhy: 'limit',
    parkedAt,
  })
  status.see({ type: 'working', ticket: 't.1' })
  await settled()
  assert.deepEqual((await hub.agent('orc')).status, { machine: 'box', diskFree: 12_000_000_000 })
  status.used({ type: 'usage', input: 300_000, output: 5_000, held: 50_000, source: 'reported' })
  await settled()
  assert.deepEqual((await hub.agent('orc')).status, { machine: 'box', diskFree: 12_000_000_000, contextLeft: 0.75 })
  // The journal of this turn says nothing about its requests.
  status.used({ type: 'usage', input: 10, output: 5, source: 'estimated' })
  await settled()
  assert.deepEqual((await hub.agent('orc')).status, { machine: 'box', diskFree: 12_000_000_000, contextLeft: 0.75 })
  await clock.turn(10 * minute)
  assert.equal((await hub.agentNow('orc')).about, true, 'an agent that is silent in a long task is still there')
  over.abort()
  await keeping
  await clock.turn(6 * minute)
  assert.equal((await hub.agentNow('orc')).about, false)
})

test('standings are told as they change: an agent waits, is given a task, and falls silent', async (t) => {
  const { hub, clock, register, wait, add } = hubAt(t)
  await register('orc')
  const told: AgentStanding[] = []
  const stop = new AbortController()
  const following = (async () => {
    for await (const one of agentStandings(hub, clock, stop.signal)) told.push(one)
  })()
  const waiting = wait('orc')
  await settled()
  await clock.turn(1_000)
  await add('do it')
  await waiting
  await clock.turn(1_000)
  await clock.turn(6 * minute)
  await clock.turn(1_000)
  stop.abort()
  await following
  assert.deepEqual(
    told.map(({ waits, about }) => [waits, about]),
    [
      [false, true],
      [true, true],
      [false, true],
      [false, false],
    ],
  )
})

test('a message goes to one agent, and is kept with the name of its sender', async (t) => {
  const { hub, clock, register, wait } = hubAt(t)
  await register('orc')
  await register('elf')
  const waiting = wait('orc')
  await settled()
  await hub.orders.message('orc', 'pull first', 'anna')
  assert.deepEqual(await waiting, { type: 'told', text: 'pull first' })
  await hub.orders.message('elf', 'you too', 'anna')
  const at = clock.now()
  assert.deepEqual(
    [await hub.agent('orc'), await hub.agent('elf')].map(({ messages, inbox }) => [messages, inbox]),
    [
      [[{ at, by: 'anna', text: 'pull first' }], []],
      [[{ at, by: 'anna', text: 'you too' }], ['you too']],
    ],
  )
  assert.deepEqual(await wait('elf'), { type: 'told', text: 'you too' })
})

test('stopping an agent cancels its task, and its later messages are refused', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('orc')
  await golden.rejects(t, hub.orders.stop('orc', 'anna'))
  const { id } = await add('loop for ever')
  await wait('orc')
  await hub.work.ack(id, 'orc')
  const { state, why } = await hub.orders.stop('orc', 'anna')
  assert.deepEqual([state, why], ['CANCELLED', 'anna stopped the agent'])
  await assert.rejects(hub.work.progress(id, 'orc', 'still here'), /does not have task .*: it is CANCELLED/)
})

test('an agent that hangs up while it waits, as one that is killed, is away after some seconds, until it is heard of again', async (t) => {
  const { hub, clock, register, wait } = hubAt(t)
  await register('a')
  const connection = new AbortController()
  const waiting = wait('a', connection.signal)
  await noticed()
  const about = async () => (await hub.agentNow('a')).about
  connection.abort()
  await waiting
  assert.equal(await about(), true, 'a lost connection may come back')
  await clock.turn(6_000)
  assert.equal(await about(), false)
  await register('a')
  assert.equal(await about(), true)
  // A wait that is over by itself is no hang-up.
  const other = wait('a')
  await clock.turn(291_000)
  await other
  await clock.turn(6_000)
  assert.equal(await about(), true)
})

test('once a task was given out twice, an agent names it by its ticket: the late answer of an earlier run is not the one that counts', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  const { id } = await add('x')
  const first = await wait('a')
  assert.ok(first.type === 'task')
  // A plain id is as good as the ticket as long as there is one run.
  await hub.work.ack(id, 'a')
  // The agent is restarted under its name, and gets the task again.
  await register('a')
  const second = await wait('a')
  assert.ok(second.type === 'task')
  const before = await hub.task(id)
  const late = { status: 'COMPLETED', message: 'the late answer' } as const
  const words = { [id]: '<id>' }
  for (const name of [id, ticketOf(first.task)]) {
    const said = [
      () => hub.work.ack(name, 'a'),
      () => hub.work.progress(name, 'a', 'half'),
      () => hub.work.block(name, 'a', 'unclear', 'which?'),
      () => hub.work.release(name, 'a', 'cannot'),
      () => hub.work.respond(name, 'a', late),
    ]
    for (const say of said) await assert.rejects(say(), { kind: 'conflict' })
    await golden.rejects(t, hub.work.respond(name, 'a', late), words)
  }
  assert.deepEqual(await hub.task(id), before)
  const answer = { status: 'COMPLETED', message: 'the real answer' } as const
  const done = await hub.work.respond(ticketOf(second.task), 'a', answer)
  assert.deepEqual([done.state, done.result], ['COMPLETED', { message: 'the real answer' }])
  // The answer may be repeated, and the late one stays refused.
  assert.deepEqual(await hub.work.respond(ticketOf(second.task), 'a', answer), done)
  await assert.rejects(hub.work.respond(id, 'a', late), { kind: 'conflict' })
  assert.deepEqual(await hub.task(id), done)
})
