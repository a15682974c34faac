import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../hand-clock.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { hubAt, keptDiff, loaded, stored, ticketAt } from './seat.ts'

test('each try of a task keeps its agent, its time, its answer and what was used', async (t) => {
  const { hub, clock, ledger, published, register, wait, add } = hubAt(t)
  const began = clock.now()
  await register('one')
  await hub.reports.spent('one', { tokens: 500, cost: 0.5, priced: 500 })
  const { id } = await add('x')
  await wait('one')
  await hub.work.ack(await ticketAt(hub, id), 'one')
  await clock.turn(1_000)
  await hub.reports.spent('one', { tokens: 700, cost: 0.75, priced: 600 })
  await hub.work.respond(await ticketAt(hub, id), 'one', { status: 'IN_REVIEW', message: 'first', diff: '+a' })
  // An agent reports what it used for its answer only after it.
  await hub.reports.spent('one', { tokens: 720, cost: 0.8, priced: 620 })
  await hub.reviews.reject(id, 'user', { text: 'not so', try: 1 })
  await hub.orders.evict('one', 'gone')
  await register('two')
  await wait('two')
  await hub.work.ack(await ticketAt(hub, id), 'two')
  await clock.turn(1_000)
  await hub.work.respond(await ticketAt(hub, id), 'two', { status: 'FAILED', message: 'cannot' })
  await hub.retry(id, 'user')
  await wait('two')
  await hub.work.ack(await ticketAt(hub, id), 'two')
  await hub.reports.spent('two', { tokens: 30 })
  await hub.work.block(await ticketAt(hub, id), 'two', 'unclear', 'which?')
  const rounded = (await hub.task(id)).tries!.map(({ spent, ...one }) =>
    spent ? { ...one, spent: { ...spent, cost: spent.cost && Math.round(spent.cost * 100) / 100 } } : one,
  )
  assert.deepEqual(rounded, [
    {
      number: 1,
      agent: 'one',
      began,
      ended: began + 1_000,
      end: 'IN_REVIEW',
      result: { message: 'first' },
      diff: keptDiff('+a'),
      reviews: [{ at: began + 1_000, by: 'user', verdict: 'rejected', text: 'not so' }],
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
  assert.deepEqual((await loaded(ledger)).tasks[0]?.tries, (await hub.task(id)).tries)
  const told = published.flatMap((change) => (change.type === 'task' && change.try ? [change.try.number] : []))
  assert.deepEqual(told, [1, 1, 1, 1, 1, 2, 2, 3, 3, 3])
})

test('an agent that gives a task back or falls silent has ended its try', async (t) => {
  const { hub, clock, register, wait, add } = hubAt(t)
  await register('one')
  const { id } = await add('x')
  await wait('one')
  await hub.work.ack(id, 'one')
  await wait('one')
  assert.deepEqual(
    (await hub.task(id)).tries!.map(({ agent, ended, end }) => [agent, ended, end]),
    [['one', clock.now(), 'QUEUED']],
  )
})

test('an agent that was started again counts from zero, and a task of an older termaite has no tries', async (t) => {
  const clock = new HandClock()
  const ledger = memoryHubLedger({ clock })
  const { hub, register, wait, add, close } = hubAt(t, ledger, clock)
  await register('one')
  await hub.reports.spent('one', { tokens: 900 })
  const { id } = await add('x')
  await wait('one')
  await hub.work.ack(id, 'one')
  await hub.reports.spent('one', { tokens: 40 })
  assert.deepEqual((await hub.task(id)).tries?.[0]?.spent, { tokens: 40 })
  const { tries: _, ...old } = await hub.task(id)
  await stored(ledger, old)
  await close()
  const again = hubAt(t, ledger, clock)
  await again.hub.work.respond(id, 'one', { status: 'COMPLETED', message: 'done' })
  assert.equal((await again.hub.task(id)).tries, undefined)
})
