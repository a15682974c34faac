import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../src/base/hand-clock.ts'
import { memoryHubLedger } from '../../src/store/memory-hub-ledger.ts'
import { hubAt } from './seat.ts'

test('each try of a task keeps its agent, its time, its answer and what was used', async (t) => {
  const { hub, clock, ledger, published, register, wait, add } = hubAt(t)
  const began = clock.now()
  await register('one')
  await hub.spent('one', { tokens: 500, cost: 0.5, priced: 500 })
  const { id } = await add('x')
  await wait('one')
  await hub.ack(id, 'one')
  await clock.turn(1_000)
  await hub.spent('one', { tokens: 700, cost: 0.75, priced: 600 })
  await hub.respond(id, 'one', { status: 'IN_REVIEW', message: 'first', diff: '+a' })
  // An agent reports what it used for its answer only after it.
  await hub.spent('one', { tokens: 720, cost: 0.8, priced: 620 })
  await hub.reject(id, 'not so', 'user')
  await hub.evict('one', 'gone')
  await register('two')
  await wait('two')
  await hub.ack(id, 'two')
  await clock.turn(1_000)
  await hub.respond(id, 'two', { status: 'FAILED', message: 'cannot' })
  await hub.retry(id, 'user')
  await wait('two')
  await hub.ack(id, 'two')
  await hub.spent('two', { tokens: 30 })
  await hub.block(id, 'two', 'unclear', 'which?')
  const rounded = hub
    .task(id)
    .tries!.map(({ spent, ...one }) =>
      spent ? { ...one, spent: { ...spent, cost: spent.cost && Math.round(spent.cost * 100) / 100 } } : one,
    )
  assert.deepEqual(rounded, [
    {
      number: 1,
      agent: 'one',
      began,
      ended: began + 1_000,
      end: 'IN_REVIEW',
      result: { message: 'first', diff: '+a' },
      spent: { tokens: 220, cost: 0.3, priced: 120 },
    },
    {
      number: 2,
      agent: 'two',
      began: began + 1_000,
      ended: began + 2_000,
      end: 'FAILED',
      result: { message: 'cannot' },
    },
    {
      number: 3,
      agent: 'two',
      began: began + 2_000,
      ended: began + 2_000,
      end: 'BLOCKED',
      spent: { tokens: 30, cost: undefined },
    },
  ])
  assert.deepEqual(ledger.load().tasks[0]?.tries, hub.task(id).tries)
  const told = published.flatMap((change) => (change.type === 'task' && change.try ? [change.try.number] : []))
  assert.deepEqual(told, [1, 1, 1, 1, 2, 2, 3, 3, 3])
})

test('an agent that gives a task back or falls silent has ended its try', async (t) => {
  const { hub, clock, register, wait, add } = hubAt(t)
  await register('one')
  const { id } = await add('x')
  await wait('one')
  await hub.ack(id, 'one')
  await wait('one')
  assert.deepEqual(
    hub.task(id).tries!.map(({ agent, ended, end }) => [agent, ended, end]),
    [['one', clock.now(), 'QUEUED']],
  )
})

test('an agent that was started again counts from zero, and a task of an older termaite has no tries', async (t) => {
  const ledger = memoryHubLedger()
  const clock = new HandClock()
  const { hub, register, wait, add, close } = hubAt(t, ledger, clock)
  await register('one')
  await hub.spent('one', { tokens: 900 })
  const { id } = await add('x')
  await wait('one')
  await hub.ack(id, 'one')
  await hub.spent('one', { tokens: 40 })
  assert.deepEqual(hub.task(id).tries?.[0]?.spent, { tokens: 40 })
  const { tries: _, ...old } = hub.task(id)
  ledger.keep([{ seq: hub.seq + 1, at: clock.now(), type: 'task', id, set: {} }], [old])
  await close()
  const again = hubAt(t, ledger, clock)
  await again.hub.respond(id, 'one', { status: 'COMPLETED', message: 'done' })
  assert.equal(again.hub.task(id).tries, undefined)
})
