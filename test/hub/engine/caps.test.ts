import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { HandClock } from '../../hand-clock.ts'
import { spentOn } from '../../../src/hub/model/tasks/spending-cap.ts'
import { waitReason } from '../../../src/hub/model/tasks/task-wait.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { sized } from '../../full.ts'
import { hubAt, keptDiff, loaded, ticketAt } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a task that passes its cap is paused with a question, and goes on with the same agent after the answer', async (t) => {
  const { hub, ledger, published, register, wait, add } = hubAt(t)
  await register('one')
  await register('two')
  const { id } = await add('x', { cap: { cost: 2 } })
  await wait('one')
  await hub.work.ack(await ticketAt(hub, id), 'one')
  await hub.reports.spent('one', { tokens: 100, cost: 1.5, priced: 100 })
  assert.equal((await hub.task(id)).state, 'ASSIGNED')
  await hub.reports.spent('one', { tokens: 200, cost: 2.04, priced: 200 })
  const { state, why, question, options, agent } = await hub.task(id)
  golden(t, [state, why, agent, options?.map((one) => [one.id, one.label])])
  golden(t, question)
  await golden.rejects(t, hub.work.progress(await ticketAt(hub, id), 'one', 'still here'), { [id]: '<id>' })
  // A report that was under way is told too.
  await hub.reports.spent('one', { tokens: 300, cost: 2.5, priced: 300 })
  assert.match((await hub.task(id)).question ?? '', /^The task has used \$2\.50 of \$2\.00\./)
  assert.deepEqual(
    (await hub.inbox.rows('user')).map(({ kind, task, options: given }) => [kind, task, given?.length]),
    [['blocked', id, 3]],
  )
  await golden.rejects(t, hub.questions.answer(id, ['7'], 'user'))
  await hub.questions.answer(id, ['again'], 'user')
  const again = await hub.task(id)
  assert.deepEqual(
    [again.state, again.wish, again.cap, again.allowed, again.options],
    ['QUEUED', 'one', { cost: 2 }, { cost: 4.5 }, undefined],
  )
  const given = await wait('one')
  golden(t, given.type === 'task' && given.task.notes.at(-1)?.text)
  await hub.work.ack(await ticketAt(hub, id), 'one')
  await hub.reports.spent('one', { tokens: 400, cost: 5, priced: 400 })
  assert.equal((await hub.task(id)).why, 'used $5.00 of $4.50')
  await hub.questions.answer(id, ['uncapped'], 'user')
  assert.deepEqual([(await hub.task(id)).cap, (await hub.task(id)).allowed], [undefined, undefined])
  const last = published.findLast((change) => change.type === 'task' && change.id === id)
  assert.deepEqual(last?.type === 'task' && last.unset, [
    'why',
    'agent',
    'heard',
    'question',
    'options',
    'cap',
    'allowed',
  ])
  assert.deepEqual((await loaded(ledger)).tasks[0], await hub.task(id))
})

test('a person stops a capped task; one that is tried again may use as much again, and says so', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('one')
  const { id } = await add('x', { cap: { tokens: 100 } })
  await wait('one')
  await hub.work.ack(id, 'one')
  await hub.reports.spent('one', { tokens: 130 })
  await hub.questions.answer(id, ['stop'], 'anna')
  assert.deepEqual(
    [(await hub.task(id)).state, (await hub.task(id)).why],
    ['CANCELLED', 'stopped: used 130 of 100 tokens'],
  )
  await hub.retry(id, 'anna')
  golden(t, [(await hub.task(id)).state, (await hub.task(id)).allowed, (await hub.task(id)).notes.at(-1)?.text])
})

test('a model without a price counts by its tokens, and a cap on the cost alone asks at once', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('one')
  const begun = async (cap: object) => {
    const { id } = await add('x', { cap })
    await wait('one')
    await hub.work.ack(id, 'one')
    return id
  }
  const byCost = await begun({ cost: 2 })
  await hub.reports.spent('one', { tokens: 50 })
  golden(t, (await hub.task(byCost)).why)
  await hub.questions.answer(byCost, ['again'], 'user')
  assert.deepEqual((await hub.task(byCost)).allowed, { cost: 2, tokens: 100 })
  await hub.cancel(byCost, 'user')
  const byBoth = await begun({ cost: 2, tokens: 100 })
  await hub.reports.spent('one', { tokens: 120 })
  assert.equal((await hub.task(byBoth)).state, 'ASSIGNED')
  await hub.reports.spent('one', { tokens: 150 })
  assert.equal((await hub.task(byBoth)).why, 'used 100 of 100 tokens')
})

test('a report that comes after the answer of the agent, or after a restart of the hub, is not lost', async (t) => {
  const clock = new HandClock()
  const ledger = memoryHubLedger({ clock })
  const first = hubAt(t, ledger, clock)
  await first.register('one')
  const { id } = await first.add('x', { cap: { cost: 1 } })
  await first.wait('one')
  await first.hub.work.ack(id, 'one')
  await first.close()
  const second = hubAt(t, ledger, clock)
  await second.hub.reports.spent('one', { tokens: 10, cost: 1.5, priced: 10 })
  assert.deepEqual(
    [(await second.hub.task(id)).state, (await second.hub.task(id)).why],
    ['BLOCKED', 'used $1.50 of $1.00'],
  )
  const done = await second.add('y', { cap: { cost: 1 } })
  await second.wait('one')
  await second.hub.work.respond(done.id, 'one', { status: 'IN_REVIEW', message: 'done' })
  await second.hub.reports.spent('one', { tokens: 20, cost: 4, priced: 20 })
  assert.deepEqual(
    [(await second.hub.task(done.id)).state, (await second.hub.task(done.id)).notes.at(-1)?.text],
    ['IN_REVIEW', 'The task has used $2.50 of $1.00. The last report of one was $2.50 and 10 tokens.'],
  )
  // A review that sends it back asks first.
  await second.hub.reviews.reject(done.id, 'user', { text: 'not so', try: 1 })
  assert.equal((await second.hub.task(done.id)).state, 'BLOCKED')
})

test('an agent that was done when its task was paused still gives its answer', async (t) => {
  const { hub, clock, register, wait, add } = hubAt(t)
  const began = clock.now()
  await register('one')
  const { id } = await add('x', { cap: { cost: 1 } })
  await wait('one')
  await hub.work.ack(id, 'one')
  await hub.reports.spent('one', { tokens: 10, cost: 3, priced: 10 })
  await clock.turn(1_000)
  await hub.work.respond(id, 'one', { status: 'IN_REVIEW', message: 'done', diff: '+a' })
  const { state, tries, question, history } = await hub.task(id)
  assert.deepEqual(
    [state, question, history.map((step) => step.state)],
    ['IN_REVIEW', undefined, ['QUEUED', 'PENDING_ACK', 'ASSIGNED', 'BLOCKED', 'IN_REVIEW']],
  )
  assert.deepEqual(tries, [
    {
      number: 1,
      agent: 'one',
      began,
      spent: { tokens: 10, cost: 3, priced: 10 },
      ended: began + 1_000,
      end: 'IN_REVIEW',
      result: { message: 'done' },
      diff: keptDiff('+a'),
    },
  ])
})

test('a task has the cap of the settings, its own, or none', async (t) => {
  const { add } = hubAt(t, undefined, new HandClock(), { task: { cost: 3 } })
  const caps = [await add('a'), await add('b', { cap: { tokens: 5 } }), await add('c', { cap: {} })]
  assert.deepEqual(
    caps.map(({ cap }) => cap),
    [{ cost: 3 }, { tokens: 5 }, undefined],
  )
})

test('a workspace that passes its cap for the day begins no further task, asks once, and begins anew the next day', async (t) => {
  // Noon at this place, so that an hour later it is the same day.
  const clock = new HandClock(new Date(2026, 10, 16, 12).getTime())
  const ledger = memoryHubLedger({ clock })
  const { hub, register, wait, add, close } = hubAt(t, ledger, clock, { day: { cost: 10 } })
  await register('one')
  await register('two')
  const first = await add('first')
  await wait('one')
  await hub.work.ack(first.id, 'one')
  await hub.reports.spent('one', { tokens: 10, cost: 10.5, priced: 10 })
  assert.equal((await hub.task(first.id)).state, 'ASSIGNED', 'a task at work goes on')
  const second = await add('second')
  const other = await add('elsewhere', { workspace: 'v' })
  await register('three', { workspace: 'v' })
  const waits = wait('two')
  const elsewhere = await wait('three')
  assert.deepEqual(
    [elsewhere.type === 'task' && elsewhere.task.id, (await hub.task(second.id)).state],
    [other.id, 'QUEUED'],
  )
  const why = async () => {
    const task = await hub.task(second.id)
    const all = new Map((await hub.tasks()).map((each) => [each.id, each]))
    return task.state === 'QUEUED' ? waitReason(task, { tasks: all, agents: [], days: await hub.days() }) : task.state
  }
  golden(t, await why())
  const items = (await hub.inbox.rows('user')).filter(({ kind }) => kind === 'cap')
  golden(
    t,
    items.map(({ text, workspace, options }) => [text, workspace, options?.map(({ label }) => label)]),
  )
  await golden.rejects(t, hub.questions.answerDay('v', ['again'], 'user'))
  await hub.questions.answerDay('w', ['stop'], 'anna')
  golden(t, await why())
  assert.deepEqual(await hub.inbox.rows('user'), [])
  await hub.work.respond(first.id, 'one', { status: 'COMPLETED', message: 'done' })
  // The answer outlives a restart of the hub, and ends with the day.
  await close()
  await waits
  const again = hubAt(t, ledger, clock, { day: { cost: 10 } })
  const idle = again.wait('two')
  await clock.turn(12 * 3_600_000 - 60_000)
  assert.deepEqual([(await idle).type, (await again.hub.task(second.id)).state], ['idle', 'QUEUED'])
  const given = again.wait('two')
  await clock.turn(120_000)
  const got = await given
  assert.equal(got.type === 'task' ? got.task.id : got.type, second.id)
})

test('an allowed day goes on at once, and asks again when that is used up too', async (t) => {
  const { hub, register, wait, add } = hubAt(t, undefined, new HandClock(), { day: { tokens: 100 } })
  await register('one')
  await hub.reports.spent('one', { tokens: 100 })
  const { id } = await add('x')
  const given = wait('one')
  await hub.questions.answerDay('w', ['again'], 'user')
  const got = await given
  assert.equal(got.type === 'task' && got.task.id, id)
  await hub.reports.spent('one', { tokens: 199 })
  assert.deepEqual(await hub.inbox.rows('user'), [])
  await hub.reports.spent('one', { tokens: 200 })
  assert.equal((await hub.inbox.rows('user'))[0]?.kind, 'cap')
})

test('spending after the cap is at most what was reported in one report', { timeout: 60_000 }, async () => {
  const report = fc.record({
    tokens: fc.integer({ min: 0, max: 50 }),
    cents: fc.option(fc.integer({ min: 0, max: 60 })),
  })
  const answers = fc.array(fc.constantFrom('again', 'uncapped', 'stop'), { maxLength: 3 })
  const cap = fc.record(
    { tokens: fc.integer({ min: 1, max: 150 }), cost: fc.double({ min: 0.1, max: 2, noNaN: true }) },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(report, { maxLength: 25 }), answers, cap, async (reports, said, wanted) => {
      const clock = new HandClock()
      const hub = new Hub({ ledger: memoryHubLedger({ clock }), clock, published() {} })
      await hub.register({ id: 'one', role: 'r', capabilities: [], workspace: 'w', source: 'CLI' })
      const { id } = await hub.add({ prompt: 'x', workspace: 'w', by: 'me', cap: wanted })
      const take = async () => {
        const given = await hub.wait('one', clock.elapsed() + 1_000, new AbortController().signal)
        assert.equal(given.type, 'task')
        await hub.work.ack(await ticketAt(hub, id), 'one')
      }
      await take()
      const left = [...said]
      let all = { tokens: 0, cost: 0, priced: 0 }
      for (const { tokens, cents } of reports) {
        const { cap: capNow, allowed: limit = capNow } = await hub.task(id)
        const before = spentOn(await hub.task(id))
        all = {
          tokens: all.tokens + tokens,
          cost: all.cost + (cents === null ? 0 : cents / 100),
          priced: all.priced + (cents === null ? 0 : tokens),
        }
        await hub.reports.spent('one', all)
        // Whatever is reported, the sum before the last report was below the limit.
        if (limit?.tokens !== undefined) assert.ok(before.tokens < limit.tokens)
        if (limit?.cost !== undefined) assert.ok((before.cost ?? 0) < limit.cost)
        const { state, options } = await hub.task(id)
        const now = spentOn(await hub.task(id))
        const over =
          (limit?.tokens !== undefined && now.tokens >= limit.tokens) ||
          (limit?.cost !== undefined && (now.cost ?? 0) >= limit.cost)
        if (over) assert.equal(state, 'BLOCKED')
        if (state !== 'BLOCKED') continue
        assert.equal(options?.length, 3)
        const answer = left.shift()
        if (answer === undefined) break
        await hub.questions.answer(id, [answer], 'user')
        if (answer === 'stop') break
        await take()
      }
    }),
    { numRuns: sized(60, 2_000) },
  )
})
