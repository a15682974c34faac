import type { TestContext } from 'node:test'
import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HandClock, settled } from '../../hand-clock.ts'
import { readPlan } from '../../../src/hub/model/plans/plan-reader.ts'
import { pipelineSpent, pipelineState } from '../../../src/hub/model/tasks/pipeline.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { fileHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { sized } from '../../full.ts'
import { diskOf, hubAt, loaded, ticketAt } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const start = Date.parse('2026-11-15T12:00:00Z')

async function planOf(text: string, now = start) {
  const { plan, problems } = await readPlan(text, { workspace: 'w', zone: 'UTC', now })
  if (!plan) return assert.deepEqual(problems, []) as never
  return plan
}

/** A hub with the plan as a pipeline, and an agent that can be told to do a task of it. */
async function seated(t: TestContext, text: string, ledger?: HubLedger, clock = new HandClock()) {
  const seat = hubAt(t, ledger, clock)
  const { hub, register, wait } = seat
  const plan = await planOf(text, clock.now())
  const added = await hub.pipelines.add({ id: 'run-00001', plan, digest: 'd', by: 'me' })
  await register('a')
  const taskNamed = async (name: string, pipeline = added.pipeline) => {
    const of = pipeline ?? (await hub.pipelines.all()).at(-1)!
    return (await hub.pipelines.tasksOf(of)).find((task) => task.pipeline!.name === name)!
  }
  /** Takes the next task and answers it. */
  const work = async (message: string, status: 'COMPLETED' | 'FAILED' | 'IN_REVIEW' = 'COMPLETED', tokens = 0) => {
    const given = await wait('a')
    if (given.type !== 'task') return given.type
    const { id, pipeline, prompt } = given.task
    await hub.work.ack(await ticketAt(hub, id), 'a')
    if (tokens > 0)
      await hub.reports.spent('a', { tokens: ((await hub.agent('a')).tokens ?? 0) + tokens, cost: 0.5, priced: tokens })
    if ((await hub.task(id)).state !== 'BLOCKED')
      await hub.work.respond(await ticketAt(hub, id), 'a', { status, message })
    return `${pipeline!.name}: ${prompt}`
  }
  const states = async () =>
    Promise.all(
      (await hub.pipelines.all()).map(async (pipeline) => {
        const tasks = await hub.pipelines.tasksOf(pipeline)
        return [pipelineState(pipeline, tasks), ...tasks.map(({ state }) => state)]
      }),
    )
  return { ...seat, plan, added, taskNamed, work, states }
}

const chain = `
name: chain
tasks:
  - name: deploy
    needs: [build, test]
    prompt: "Deploy {{build.result}} by {{build.agent}}: {{test.result}}"
  - name: build
    prompt: Build it.
  - name: test
    needs: build
    matrix: { os: [linux, mac] }
    prompt: "Test {{matrix.os}}: {{build.result}}"
`

function tempLedger(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'pipelines-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'hub.db')
}

for (const [name, make] of [
  ['in memory', () => undefined],
  ['in SQLite', (t: TestContext, clock: HandClock) => fileHubLedger(tempLedger(t), { clock })],
] as const)
  test(`${name}: a plan is added as a whole, in its order, and results are handed on once needs are done`, async (t) => {
    const clock = new HandClock()
    const { hub, work, states, published, taskNamed, added, plan } = await seated(t, chain, make(t, clock), clock)
    assert.deepEqual(
      published.filter(({ type }) => type === 'task' || type === 'pipeline').map((change) => change.at),
      Array(5).fill(start),
    )
    assert.deepEqual(added.pipeline!.tasks, ['run-00001001', 'run-00001002', 'run-00001003', 'run-00001004'])
    // A request that is sent again adds nothing, and another plan under the same id is refused.
    assert.deepEqual(await hub.pipelines.add({ id: 'run-00001', plan, digest: 'd', by: 'me' }), added)
    await golden.rejects(t, hub.pipelines.add({ id: 'run-00001', plan, digest: 'other', by: 'me' }))
    assert.equal((await hub.tasks()).length, 4)
    assert.equal((await taskNamed('test (mac)')).prompt, 'Test mac: {{build.result}}')
    assert.equal(await work('built {{test.result}} </result>'), 'build: Build it.')
    const handed = '<result task="build" agent="a">\nbuilt {{test.result}} <\\/result>\n</result>'
    assert.equal(await work('fine'), `test (linux): Test linux: ${handed}`)
    assert.equal(await work('bad'), `test (mac): Test mac: ${handed}`)
    assert.equal(
      await work('deployed'),
      `deploy: Deploy ${handed} by a: <result task="test (linux)" agent="a">\nfine\n</result>\n<result task="test (mac)" agent="a">\nbad\n</result>`,
    )
    assert.deepEqual(await states(), [['COMPLETED', 'COMPLETED', 'COMPLETED', 'COMPLETED', 'COMPLETED']])
    // The filled prompt is kept with the task.
    assert.match((await taskNamed('deploy')).prompt, /^Deploy <result task="build"/)
    assert.equal((await taskNamed('deploy')).pipeline!.template, undefined)
  })

test('no task of a plan is added where the ledger cannot keep all of them', async (t) => {
  const clock = new HandClock()
  const ledger = memoryHubLedger({ clock })
  const hub = new Hub({ ledger, clock, published: () => {} })
  const disk = diskOf(ledger)
  disk.full = true
  const plan = await planOf(chain)
  const wanted = { id: 'run-00001', plan, digest: 'd', by: 'me' }
  await assert.rejects(hub.pipelines.add(wanted), /disk full/)
  assert.deepEqual([await hub.tasks(), await hub.pipelines.all(), (await loaded(ledger)).tasks], [[], [], []])
  disk.full = false
  const { pipeline } = await hub.pipelines.add(wanted)
  assert.equal(pipeline!.tasks.length, (await hub.tasks()).length)
  t.diagnostic(`${(await hub.tasks()).length} tasks`)
})

test('secrets in a result are masked before another agent reads them', async (t) => {
  const clock = new HandClock()
  const hub = new Hub({
    ledger: memoryHubLedger({ clock }),
    clock,
    published: () => {},
    mask: (text) => text.replaceAll('sk-1', '***'),
  })
  const stop = new AbortController()
  const running = hub.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await running
  })
  await hub.register({ id: 'a', role: 'r', capabilities: [], workspace: 'w', source: 'CLI' })
  await hub.pipelines.add({
    id: 'run-00001',
    plan: await planOf('name: x\ntasks: [{ name: a, prompt: p }, { name: b, needs: a, prompt: "{{a.result}}" }]'),
    digest: 'd',
    by: 'me',
  })
  const wait = () => hub.wait('a', clock.elapsed() + 1000, new AbortController().signal)
  const first = await wait()
  assert.ok(first.type === 'task')
  await hub.work.respond(first.task.id, 'a', { status: 'COMPLETED', message: 'key sk-1' })
  const second = await wait()
  assert.ok(second.type === 'task')
  assert.equal(second.task.prompt, '<result task="a" agent="a">\nkey ***\n</result>')
})

test('a task that fails is tried again after its pause, as often as the plan says; tasks that need it wait', async (t) => {
  const { clock, work, taskNamed, hub, wait } = await seated(
    t,
    'name: x\ntasks: [{ name: a, prompt: p, retries: { times: 2, pause: 10s } }, { name: b, needs: a, prompt: q }]',
  )
  await work('no', 'FAILED')
  assert.deepEqual(
    [(await taskNamed('a')).state, (await taskNamed('a')).why, (await taskNamed('b')).state],
    ['QUEUED', 'retry 1 of 2 after a pause of 10s', 'QUEUED'],
  )
  assert.deepEqual(
    (await taskNamed('a')).history.slice(-2).map(({ state, by }) => [state, by]),
    [
      ['FAILED', 'a'],
      ['QUEUED', 'hub'],
    ],
  )
  const next = wait('a')
  await clock.turn(9_999)
  assert.equal((await taskNamed('a')).state, 'QUEUED')
  await clock.turn(1)
  const given = await next
  assert.ok(given.type === 'task')
  await hub.work.respond(await ticketAt(hub, given.task.id), 'a', { status: 'FAILED', message: 'no' })
  await clock.turn(10_000)
  await work('no', 'FAILED')
  assert.deepEqual(
    [(await taskNamed('a')).state, (await taskNamed('a')).why, (await taskNamed('b')).state],
    ['FAILED', 'no', 'FAILED'],
  )
  assert.equal((await taskNamed('a')).tries!.length, 3)
  // A person tries the whole pipeline again, with all its retries.
  await hub.pipelines.retry('run-00001', 'anna')
  assert.deepEqual(
    [(await taskNamed('a')).state, (await taskNamed('b')).state, (await taskNamed('a')).pipeline!.retries],
    ['QUEUED', 'QUEUED', { times: 2, pauseMs: 10_000, made: 0 }],
  )
})

test('a deadline fails tasks that are not done, also at an agent, and leaves those that wait for a review', async (t) => {
  const { hub, clock, wait, register, taskNamed, work } = await seated(
    t,
    'name: x\ndeadline: 1h\ntasks: [{ name: a, prompt: p }, { name: b, prompt: q, deadline: 10m, retries: 3 }, { name: c, prompt: r }]',
  )
  await work('look', 'IN_REVIEW')
  await register('b')
  const held = await wait('b')
  assert.ok(held.type === 'task')
  await hub.work.ack(held.task.id, 'b')
  await clock.turn(600_000)
  golden(t, [(await taskNamed('b')).state, (await taskNamed('b')).why])
  await assert.rejects(
    hub.work.respond(held.task.id, 'b', { status: 'COMPLETED', message: 'late' }),
    /Agent b does not have task/,
  )
  await clock.turn(3_000_000)
  assert.deepEqual(
    [(await taskNamed('a')).state, (await taskNamed('b')).state, (await taskNamed('c')).state],
    ['IN_REVIEW', 'FAILED', 'FAILED'],
  )
  // A person who tries it again is not held to a time that is over.
  await hub.retry((await taskNamed('c')).id, 'anna')
  await clock.turn(60_000)
  assert.equal((await taskNamed('c')).state, 'QUEUED')
})

test('a pipeline is cancelled as a whole, and paused without losing work', async (t) => {
  const { hub, work, states, wait, clock } = await seated(t, chain)
  const first = await wait('a')
  assert.ok(first.type === 'task')
  await hub.work.ack(first.task.id, 'a')
  await hub.pipelines.pause('run-00001', 'anna')
  await hub.work.respond(first.task.id, 'a', { status: 'COMPLETED', message: 'ok' })
  const idle = wait('a')
  await clock.turn(30_000)
  assert.deepEqual(await states(), [['PAUSED', 'QUEUED', 'COMPLETED', 'QUEUED', 'QUEUED']])
  await hub.pipelines.resume('run-00001')
  assert.equal((await idle).type, 'task')
  await assert.rejects(hub.pipelines.resume('run-00001'), /The pipeline chain is not paused/)
  const cancelled = await hub.pipelines.cancel('run-00001', 'anna')
  assert.equal(cancelled.name, 'chain')
  assert.deepEqual(await states(), [['CANCELLED', 'CANCELLED', 'COMPLETED', 'CANCELLED', 'CANCELLED']])
  assert.deepEqual((await hub.task('run-00001001')).history.at(-1), {
    at: clock.now(),
    state: 'CANCELLED',
    by: 'anna',
    why: 'cancelled with its pipeline',
  })
  await assert.rejects(hub.pipelines.cancel('run-00001', 'anna'), /The pipeline chain is over already/)
  assert.equal(await Promise.race([work('x'), settled().then(() => 'waits')]), 'waits')
})

test('a spent budget begins no further task and asks; each answer has its effect', async (t) => {
  const three = (more: string) =>
    `name: dear\nbudget: ${more}\ntasks: [{ name: a, prompt: p }, { name: b, prompt: q }, { name: c, prompt: r }]`
  for (const answer of ['again', 'uncapped', 'stop']) {
    const { hub, work, states, wait, clock } = await seated(t, three('{ tokens: 100, cost: 5 }'))
    await work('ok', 'COMPLETED', 150)
    assert.deepEqual(await states(), [['PAUSED', 'COMPLETED', 'QUEUED', 'QUEUED']])
    const [item] = await hub.inbox.rows('anna')
    golden(t, [item!.kind, item!.title, item!.text, item!.pipeline, item!.options!.map(({ label }) => label)])
    const next = wait('a')
    await clock.turn(60_000)
    assert.deepEqual(await states(), [['PAUSED', 'COMPLETED', 'QUEUED', 'QUEUED']])
    await assert.rejects(hub.pipelines.answer('run-00001', ['7'], 'anna'), /Found "7", allowed: /)
    await hub.pipelines.answer('run-00001', [answer], 'anna')
    assert.deepEqual(
      (await hub.inbox.rows('anna')).filter(({ kind }) => kind === 'cap'),
      [],
    )
    if (answer === 'stop') {
      assert.deepEqual(await states(), [['CANCELLED', 'COMPLETED', 'CANCELLED', 'CANCELLED']])
      assert.equal((await hub.task('run-00001002')).why, 'stopped: the pipeline has used 150 of 100 tokens')
      continue
    }
    const given = await next
    assert.ok(given.type === 'task')
    await hub.work.ack(given.task.id, 'a')
    await hub.reports.spent('a', { tokens: 350, cost: 0.5, priced: 350 })
    await hub.work.respond(given.task.id, 'a', { status: 'COMPLETED', message: 'ok' })
    assert.deepEqual((await states())[0]![0], answer === 'again' ? 'PAUSED' : 'QUEUED')
  }
})

test('a budget of time counts the time in which an agent works, and asks while the task goes on', async (t) => {
  const { hub, clock, wait, states } = await seated(
    t,
    'name: x\nbudget: { time: 10m }\ntasks: [{ name: a, prompt: p }, { name: b, needs: a, prompt: q }]',
  )
  await clock.turn(3_600_000)
  const given = await wait('a')
  assert.ok(given.type === 'task')
  await hub.work.ack(given.task.id, 'a')
  await clock.turn(599_000)
  assert.equal((await states())[0]![0], 'IN_PROGRESS')
  await clock.turn(1_000)
  assert.deepEqual(
    [(await states())[0], (await hub.pipelines.all())[0]!.asks!.passed],
    [['PAUSED', 'ASSIGNED', 'QUEUED'], 'worked for 10m of 10m'],
  )
  const tasks = await hub.pipelines.tasksOf((await hub.pipelines.all())[0]!)
  assert.deepEqual(pipelineSpent(tasks, clock.now()), { tokens: 0, timeMs: 600_000 })
})

const nightly = 'name: nightly\nschedule: "5 * * * *"\ntasks: [{ name: a, prompt: p }]'

test('a schedule adds a run at each time; missed times are one run that says so; it is paused and removed', async (t) => {
  const clock = new HandClock()
  const ledger = memoryHubLedger({ clock })
  const { hub, added, close } = await seated(t, nightly, ledger, clock)
  assert.deepEqual([added.schedule!.next, await hub.tasks()], [Date.parse('2026-11-15T12:05:00Z'), []])
  await golden.rejects(t, hub.pipelines.add({ id: 'run-00002', plan: await planOf(nightly), digest: 'd', by: 'me' }))
  await clock.turn(300_000 - 1)
  assert.equal((await hub.tasks()).length, 0)
  await clock.turn(1)
  const [schedule] = await hub.pipelines.schedules()
  assert.deepEqual(
    [(await hub.tasks()).length, schedule!.runs, schedule!.next],
    [1, 1, Date.parse('2026-11-15T13:05:00Z')],
  )
  await close()
  // The hub is away for three hours and a half.
  await clock.turn(3.5 * 3_600_000)
  const back = hubAt(t, ledger, clock)
  await clock.turn(1_000)
  golden(t, (await back.hub.pipelines.all()).map(({ note }) => note).toSorted())
  assert.equal((await back.hub.tasks()).length, 2)
  await back.hub.pipelines.pauseSchedule('run-00001', 'anna')
  await clock.turn(2 * 3_600_000)
  assert.equal((await back.hub.tasks()).length, 2)
  const { next, paused } = await back.hub.pipelines.resumeSchedule('run-00001')
  assert.deepEqual([next, paused], [Date.parse('2026-11-15T18:05:00Z'), undefined])
  await back.hub.pipelines.removeSchedule('run-00001')
  await clock.turn(2 * 3_600_000)
  assert.deepEqual([(await back.hub.tasks()).length, await back.hub.pipelines.schedules()], [2, []])
})

test('a schedule that skips adds no run while the one before is not over', async (t) => {
  const { hub, clock, work } = await seated(t, nightly.replace('"5 * * * *"', '{ cron: "5 * * * *", overlap: skip }'))
  await clock.turn(3 * 3_600_000)
  assert.deepEqual(
    (await hub.pipelines.schedules()).map(({ runs, skipped }) => [runs, skipped]),
    [[1, 2]],
  )
  await work('ok')
  await clock.turn(3_600_000)
  assert.deepEqual(
    (await hub.pipelines.schedules()).map(({ runs, skipped }) => [runs, skipped]),
    [[2, 2]],
  )
})

test('property: with any failures and restarts, no task begins before its needs are done, and all end', async (t) => {
  const shape = fc.array(
    fc.record({ needs: fc.array(fc.nat(9), { maxLength: 3 }), retries: fc.nat(2), matrix: fc.nat(2) }),
    { minLength: 1, maxLength: 6 },
  )
  await fc.assert(
    fc.asyncProperty(shape, fc.infiniteStream(fc.nat(9)), async (rows, luck) => {
      const tasks = rows.map(({ needs, retries, matrix }, at) => {
        const before = [...new Set(needs.filter(() => at > 0).map((need) => `t${need % Math.max(1, at)}`))]
        const prompt = ['p', ...before.map((need) => `{{${need}.result}}`)].join(' ')
        const values = matrix > 0 ? { matrix: { v: [1, 2].slice(0, matrix) } } : {}
        return { name: `t${at}`, prompt, needs: before, retries, ...values }
      })
      const clock = new HandClock()
      const ledger = memoryHubLedger({ clock })
      let seat = hubAt(t, ledger, clock)
      const plan = await planOf(JSON.stringify({ name: 'p', tasks }))
      await seat.hub.pipelines.add({ id: 'run-00001', plan, digest: 'd', by: 'me' })
      await seat.register('a')
      const isOver = async () =>
        (await seat.hub.tasks()).every(({ state }) => state === 'COMPLETED' || state === 'FAILED')
      while (!(await isOver())) {
        const given = await seat.wait('a')
        assert.ok(given.type === 'task')
        const { id, needs, prompt, pipeline } = given.task
        assert.deepEqual(
          await Promise.all(needs.map(async (need) => (await seat.hub.task(need)).state)),
          needs.map(() => 'COMPLETED'),
        )
        assert.equal(prompt.match(/<result /g)?.length ?? 0, needs.length)
        assert.ok(!prompt.includes('{{'))
        const throwsDice = luck.next().value!
        await seat.hub.work.respond(await ticketAt(seat.hub, id), 'a', {
          status: throwsDice < 3 ? 'FAILED' : 'COMPLETED',
          message: 'said',
        })
        assert.ok((await seat.hub.task(id)).tries!.length <= 1 + (pipeline?.retries?.times ?? 0))
        if (throwsDice === 9) {
          await seat.close()
          seat = hubAt(t, ledger, clock)
        }
      }
      const done = await seat.hub.tasks()
      for (const { state, needs, agent } of done)
        if (state === 'FAILED' && agent === undefined)
          assert.ok(needs.some((need) => done.find(({ id }) => id === need)!.state === 'FAILED'))
      await seat.close()
    }),
    { numRuns: sized(25, 300) },
  )
})
