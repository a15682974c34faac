import type { HandClock } from '../../hand-clock.ts'
import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import type { Task } from '../../../src/hub/model/tasks/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../../hand-clock.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { HubError } from '../../../src/hub/engine/rules/task-rules.ts'
import { hubAt } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const hour = 3_600_000
const day = 24 * hour

type Test = Parameters<typeof hubAt>[0]

/** A hub with one agent; `work` gives it a task and has it answered. */
async function working(t: Test, ledger?: HubLedger, clock?: HandClock) {
  const at = hubAt(t, ledger, clock)
  await at.register('bot')
  const work = async (status: 'COMPLETED' | 'FAILED' | 'IN_REVIEW', prompt: string): Promise<Task> => {
    const { id } = await at.add(prompt)
    const given = await at.wait('bot')
    assert.equal(given.type === 'task' && given.task.id, id)
    return at.hub.work.respond(id, 'bot', { status, message: 'so' })
  }
  return { ...at, work }
}

/** The hub at the same ledger some days later; nobody was there meanwhile. */
async function later(t: Test, { close, clock, ledger }: Awaited<ReturnType<typeof working>>, days: number) {
  await close()
  await clock.turn(days * day)
  return working(t, ledger, clock)
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) => (error instanceof HubError ? `${error.kind}: ${error.message}` : error),
  )

test('an old finished task is removed, and a client that asks for it learns that', async (t) => {
  const before = await working(t)
  const old = await before.work('COMPLETED', 'old')
  const review = await before.work('IN_REVIEW', 'review')
  const { hub, add, work } = await later(t, before, 40)
  const young = await work('FAILED', 'young')
  assert.deepEqual(await hub.retention.removeSome(30 * day), { tasks: 1, pipelines: 0, more: false })
  assert.deepEqual(
    (await hub.tasks()).map(({ id }) => id),
    [young.id, review.id],
  )
  golden(
    t,
    [
      await refusal(hub.task(old.id)),
      await refusal(hub.task(old.id.slice(-8))),
      await refusal(hub.cancel(old.id, 'me')),
      await refusal(add('more', { needs: [old.id] })),
      await refusal(hub.task('unknown')),
      await refusal(add('more', { needs: ['unknown'] })),
    ],
    { [old.id]: '<id>' },
  )
})

test('a task that is tried again goes by how its removed need had ended', async (t) => {
  const before = await working(t)
  const [done, dead] = [await before.work('COMPLETED', 'done'), await before.work('FAILED', 'dead')]
  const first = await before.add('first', { needs: [done.id] })
  const second = await before.add('second', { needs: [dead.id] })
  await before.hub.cancel(first.id, 'me')
  assert.equal((await before.hub.task(second.id)).state, 'FAILED')
  const { hub } = await later(t, before, 40)
  for (const { id } of [first, second]) await hub.retry(id, 'me')
  assert.equal((await hub.task(first.id)).state, 'QUEUED')
  await hub.cancel(first.id, 'me')
  await hub.retention.removeSome(30 * day)
  await hub.retry(first.id, 'me')
  await hub.retry(second.id, 'me')
  const [again, never] = [await hub.task(first.id), await hub.task(second.id)]
  assert.deepEqual([again.state, never.state], ['QUEUED', 'FAILED'])
  assert.match(never.why!, /^\S+ needs \S+, which failed: Task \S+ was FAILED and was removed after 30 days/)
})

test('a hub that keeps finished tasks for a time removes them by itself, and goes on doing so', async (t) => {
  const before = await working(t)
  await before.work('COMPLETED', 'one')
  const { ledger, clock, work, close } = await later(t, before, 1)
  await work('COMPLETED', 'two')
  await close()
  const hub = new Hub({ ledger, clock, published: () => {}, keepFinishedMs: 2 * hour })
  const stop = new AbortController()
  const running = hub.run(stop.signal)
  const prompts = async () => (await hub.tasks()).map(({ prompt }) => prompt)
  while ((await prompts()).length > 1) await settled()
  assert.deepEqual(await prompts(), ['two'])
  await clock.turn(4 * hour)
  while ((await prompts()).length > 0) await settled()
  stop.abort()
  await running
})
