import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Notify } from '../../../src/hub/client/notify.ts'
import { HubNotices } from '../../../src/hub/server/hub-notices.ts'
import { readPlan } from '../../../src/hub/model/plans/plan-reader.ts'
import { HandClock } from '../../hand-clock.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { ticketAt } from '../engine/seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

type Told = Parameters<Notify>[0]

function noticing() {
  const clock = new HandClock()
  const told: Told[] = []
  const notify: Notify = async (notice) => void told.push(notice)
  const hub: Hub = new Hub({
    ledger: memoryHubLedger({ clock }),
    clock,
    caps: { day: { tokens: 1_000 } },
    published: (changes) => notices.see(changes),
  })
  const notices = new HubNotices({ clock, notify, task: (id) => hub.task(id) })
  const taken = async (prompt: string, cap = {}) => {
    const { id } = await hub.add({ prompt, workspace: '/shop', by: 'user', cap })
    await hub.wait('c1', clock.elapsed() + 1_000, new AbortController().signal)
    await hub.work.ack(id, 'c1')
    return id
  }
  const register = () =>
    hub.register({ id: 'c1', name: 'Claude', role: 'r', workspace: '/shop', capabilities: [], source: 'CLI' })
  /** The notices since the last look, once the time to gather is over. */
  const heard = async () => {
    await clock.turn(1_000)
    return told.splice(0)
  }
  return { hub, taken, register, heard }
}

test('each thing that happens at the hub is told once, with the place where it is on the page', async (t) => {
  const { hub, taken, register, heard } = noticing()
  await register()
  const id = await taken('Fix it\nplease')
  await hub.work.progress(id, 'c1', 'half')
  assert.deepEqual(await heard(), [], 'work under way is no news')
  const asked = { id: 'q1', text: 'May I?', options: [], task: id }
  await hub.questions.ask('c1', asked)
  await hub.reports.spent('c1', { tokens: 5 })
  assert.deepEqual(await heard(), [
    { event: 'asking', agent: 'Claude', workspace: '/shop', text: 'May I?', view: `tasks/${id}` },
  ])
  await hub.questions.ask('c1', { id: 'q2', text: 'And now?', options: [] })
  await hub.work.block(id, 'c1', 'unclear', 'Which one?')
  const place = { agent: 'c1', workspace: '/shop', task: id }
  assert.deepEqual(await heard(), [
    { event: 'asking', agent: 'Claude', workspace: '/shop', text: 'And now?', view: 'agents/c1' },
    { ...place, event: 'blocked', text: 'Fix it please: Which one?' },
  ])
  await hub.cancel(id, 'user')
  assert.deepEqual(await heard(), [], 'a person knows what they did')
  const ends = [
    ['IN_REVIEW', 'review'],
    ['FAILED', 'failed'],
    ['COMPLETED', 'done'],
  ] as const
  for (const [status, event] of ends) {
    const other = await taken('Do')
    await hub.work.respond(other, 'c1', { status, message: 'So.' })
    assert.deepEqual(await heard(), [{ ...place, event, text: 'Do: So.', task: other }])
  }
  await hub.reports.spent('c1', { tokens: 2_000 })
  await hub.reports.spent('c1', { tokens: 2_001 })
  golden(t, await heard())
})

test('a budget of a pipeline that is spent is told once, and a failure only when no retry is left', async (t) => {
  const { hub, register, heard } = noticing()
  await register()
  const text = 'name: dear\nbudget: { tokens: 10 }\ntasks: [{ name: a, prompt: p, retries: 1 }, { name: b, prompt: q }]'
  const { plan } = await readPlan(text, { workspace: '/shop', zone: 'UTC', now: 0 })
  await hub.pipelines.add({ id: 'run-00001', plan: plan!, digest: 'd', by: 'user' })
  const fail = async () => {
    await hub.wait('c1', Infinity, new AbortController().signal)
    await hub.work.respond(await ticketAt(hub, 'run-00001001'), 'c1', { status: 'FAILED', message: 'no' })
  }
  await fail()
  assert.deepEqual(await heard(), [])
  await fail()
  assert.deepEqual(
    (await heard()).map(({ event, text }) => [event, text]),
    [['failed', 'p: no']],
  )
  for (const tokens of [20, 30]) await hub.reports.spent('c1', { tokens })
  golden(t, await heard())
})

test('many changes at once are one notice', async () => {
  const { hub, taken, register, heard } = noticing()
  await register()
  for (let n = 0; n < 4; n++)
    await hub.work.respond(await taken(`task ${n}`), 'c1', { status: 'FAILED', message: 'no' })
  await hub.work.respond(await taken('last'), 'c1', { status: 'COMPLETED', message: 'yes' })
  assert.deepEqual(await heard(), [
    {
      event: 'failed',
      agent: 'the hub',
      workspace: '/shop',
      text: '5 things happened at once: 4 failed, 1 done',
      view: 'inbox',
    },
  ])
})
