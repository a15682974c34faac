import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../../hand-clock.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'

import { diskOf, hubAt, keptDiff, noticed, ticketAt } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const path = async (hub: Hub, id: string) => (await hub.task(id)).history.map(({ state }) => state)

test('a task goes to the agent that waits, is acknowledged, worked at and done', async (t) => {
  const { hub, register, wait, add, published } = hubAt(t)
  await register('a')
  const waiting = wait('a')
  const { id } = await add('build it')
  const given = await waiting
  assert.deepEqual(given, { type: 'task', task: await hub.task(id) })
  await hub.work.ack(id, 'a')
  await hub.work.progress(id, 'a', 'half', 50)
  const done = await hub.work.respond(id, 'a', { status: 'COMPLETED', message: 'built', diff: '+x' })
  assert.deepEqual(await path(hub, id), ['QUEUED', 'PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS', 'COMPLETED'])
  assert.deepEqual([done.result, done.tries?.[0]?.diff], [{ message: 'built' }, keptDiff('+x')])
  assert.deepEqual(
    done.notes.map(({ kind, text, percentage }) => [kind, text, percentage]),
    [
      ['progress', 'half', 50],
      ['response', 'built', undefined],
    ],
  )
  assert.deepEqual(
    published.map(({ seq }) => seq),
    published.map((_, at) => at + 1),
  )
})

test('a task that is sent again is the same task', async (t) => {
  const { hub, add } = hubAt(t)
  const [first, again] = [await add('x', { id: 'mine-0001' }), await add('x', { id: 'mine-0001' })]
  assert.deepEqual([again, (await hub.tasks()).length], [first, 1])
  await golden.rejects(t, add('y', { id: 'mine-0001' }))
  await golden.rejects(t, add('y', { id: 'a.b' }))
})

test('a task that is not acknowledged within 30 s goes back to the queue, and a late acknowledgement is refused', async (t) => {
  const { hub, clock, register, wait, add } = hubAt(t)
  await register('a')
  await register('b')
  const { id } = await add('x')
  await wait('a')
  const other = wait('b')
  await clock.turn(29_999)
  assert.equal((await hub.task(id)).state, 'PENDING_ACK')
  await clock.turn(1)
  assert.equal((await other).type, 'task')
  golden(t, (await hub.task(id)).history.at(-2))
  await golden.rejects(t, hub.work.ack(await ticketAt(hub, id), 'a'), { [id]: '<id>' })
  await hub.work.ack(await ticketAt(hub, id), 'b')
  await hub.work.ack(await ticketAt(hub, id), 'b')
  assert.equal((await hub.task(id)).state, 'ASSIGNED')
})

test('a silent agent loses its task after 30 minutes, one that reports progress keeps it', async (t) => {
  const { hub, clock, register, wait, add } = hubAt(t)
  await register('a')
  const { id } = await add('x')
  await wait('a')
  await hub.work.ack(id, 'a')
  await clock.turn(29 * 60_000)
  await hub.work.progress(id, 'a', 'still here')
  await clock.turn(29 * 60_000)
  assert.equal((await hub.task(id)).state, 'IN_PROGRESS')
  await clock.turn(60_000)
  assert.deepEqual([(await hub.task(id)).state, (await hub.task(id)).returns], ['QUEUED', 1])
})

test('an agent that waits again without an answer gets the same task, a limited number of times', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  const { id } = await add('x')
  for (let time = 0; time < 6; time++) {
    const given = await wait('a')
    assert.deepEqual([given.type, (await hub.task(id)).returns], ['task', time])
    await hub.work.ack(await ticketAt(hub, id), 'a')
  }
  const last = wait('a')
  await noticed()
  golden(t, [(await hub.task(id)).state, (await hub.task(id)).why])
  await add('y')
  assert.equal((await last).type, 'task')
})

test('no task goes to a closed connection, and a newer connection replaces it', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  const gone = new AbortController()
  const lost = wait('a', gone.signal)
  gone.abort()
  const { id } = await add('x')
  assert.deepEqual([await lost, (await hub.task(id)).state], [{ type: 'idle' }, 'QUEUED'])
  const older = wait('a')
  await settled()
  assert.equal((await older).type, 'task')
  await hub.work.ack(id, 'a')
  await hub.work.respond(id, 'a', { status: 'COMPLETED', message: 'ok' })
  const first = wait('a')
  await settled()
  const second = wait('a')
  assert.deepEqual(await first, { type: 'idle' })
  await add('y')
  assert.equal((await second).type, 'task')
})

test('an agent that waits twice at once gets one task, and no other agent gets the same one', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  await register('b')
  const { id } = await add('x')
  const waits = [wait('a'), wait('a'), wait('b')]
  await settled()
  await hub.cancel(id, 'me')
  await hub.orders.broadcast('done', 'user')
  assert.deepEqual(
    (await Promise.all(waits)).map(({ type }) => type),
    ['idle', 'task', 'told'],
  )
})

test('an offer without an acknowledgement is no return, and is repeated a limited number of times', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  const { id } = await add('x')
  for (let time = 1; time <= 11; time++) {
    assert.equal((await wait('a')).type, 'task')
    assert.deepEqual([(await hub.task(id)).returns, (await path(hub, id)).length], [0, 2 * time])
  }
  void wait('a')
  await noticed()
  const { state, why, returns } = await hub.task(id)
  golden(t, [state, why, returns])
  await hub.retry(id, 'me')
  assert.equal((await hub.task(id)).state, 'PENDING_ACK')
})

test('a task goes by workspace, then capability, then the longest wait', async (t) => {
  const { clock, register, wait, add } = hubAt(t)
  const got: Record<string, string> = {}
  const agents = { elsewhere: { workspace: 'v' }, plain: {}, late: {}, able: { capabilities: ['rust', 'web'] } }
  for (const [id, over] of Object.entries(agents)) {
    await register(id, over)
    void wait(id).then((given) => (got[id] = given.type === 'task' ? given.task.prompt : given.type))
    await clock.turn(1)
  }
  for (const [prompt, capabilities] of [
    ['rust', ['rust']],
    ['any', []],
    ['more', []],
  ] as const)
    await add(prompt, { capabilities: [...capabilities] })
  await clock.turn(290_000)
  assert.deepEqual(got, { able: 'rust', plain: 'any', late: 'more', elsewhere: 'idle' })
})

test('a task goes to the agent it is meant for while that is present; tasks go by priority, then age', async (t) => {
  const { hub, clock, register, wait, add } = hubAt(t)
  await register('a')
  await register('b')
  await add('old')
  await clock.turn(1)
  await add('new')
  await add('urgent', { priority: 5 })
  await add('for b', { priority: 9, wish: 'b' })
  const got: string[] = []
  const next = async (id: string) => {
    const given = await wait(id)
    if (given.type !== 'task') return got.push(`${id}: ${given.type}`)
    await hub.work.respond(given.task.id, id, { status: 'COMPLETED', message: 'ok' })
    return got.push(`${id}: ${given.task.prompt}`)
  }
  for (const id of ['a', 'a', 'a', 'b']) await next(id)
  await add('for b again', { wish: 'b' })
  await register('e')
  const patient = next('e')
  await clock.turn(290_000)
  const lucky = next('e')
  await clock.turn(60_000)
  await Promise.all([patient, lucky])
  assert.deepEqual(got, ['a: urgent', 'a: old', 'a: new', 'b: for b', 'e: idle', 'e: for b again'])
})

test('a question frees the agent, and the answer brings the task back to it with its notes', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  await register('b')
  const { id } = await add('x')
  await wait('a')
  await hub.work.ack(id, 'a')
  await hub.work.block(id, 'a', 'unclear', 'Which one?')
  assert.deepEqual(
    [(await hub.task(id)).state, (await hub.task(id)).question, (await hub.agentNow('a')).task],
    ['BLOCKED', 'Which one?', undefined],
  )
  await assert.rejects(
    hub.work.respond(id, 'a', { status: 'COMPLETED', message: 'no' }),
    /Agent a does not have task .*: it is BLOCKED/,
  )
  const [other, own] = [wait('b'), wait('a')]
  await hub.questions.answer(id, ['The left one.'], 'me')
  const given = await own
  assert.equal(given.type === 'task' && given.task.id, id)
  const task = await hub.task(id)
  assert.deepEqual(
    [task.question, task.notes.map(({ kind, text, by }) => [kind, text, by])],
    [
      undefined,
      [
        ['question', 'Which one?', 'a'],
        ['answer', 'The left one.', 'me'],
      ],
    ],
  )
  await add('for b')
  assert.equal((await other).type, 'task')
  await golden.rejects(t, hub.questions.answer(id, ['again'], 'me'), { [id]: '<id>' })
})

test('a review approves a task, or sends it back with a comment', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  const { id } = await add('x')
  for (const [at, verdict] of (['reject', 'approve'] as const).entries()) {
    await wait('a')
    await hub.work.ack(await ticketAt(hub, id), 'a')
    await hub.work.respond(await ticketAt(hub, id), 'a', { status: 'IN_REVIEW', message: 'look', diff: '+1' })
    if (verdict === 'reject') await hub.reviews.reject(id, 'me', { text: 'too short', try: at + 1 })
    else await hub.reviews.approve(id, 'me', { try: at + 1 })
  }
  const round = ['PENDING_ACK', 'ASSIGNED', 'IN_REVIEW']
  assert.deepEqual(await path(hub, id), ['QUEUED', ...round, 'QUEUED', ...round, 'APPROVED'])
  await assert.rejects(hub.cancel(id, 'me'), /is already APPROVED/)
})

test('a task waits for the tasks that it needs, and fails with the one that failed, naming it', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  await assert.rejects(add('x', { needs: ['nope'] }), /There is no task nope to depend on/)
  const first = await add('first')
  const second = await add('second', { needs: [first.id], priority: 9 })
  const third = await add('third', { needs: [second.id] })
  const given = await wait('a')
  assert.equal(given.type === 'task' && given.task.id, first.id)
  await hub.work.respond(first.id, 'a', { status: 'FAILED', message: 'no disk' })
  assert.deepEqual(
    (await Promise.all([second, third].map(({ id }) => hub.task(id)))).map(({ state, why }) => [state, why]),
    [
      ['FAILED', `${second.id} needs ${first.id}, which failed: no disk`],
      ['FAILED', `${third.id} needs ${second.id}, which failed: ${second.id} needs ${first.id}, which failed: no disk`],
    ],
  )
  await hub.retry(first.id, 'me')
  assert.equal((await hub.task(first.id)).state, 'QUEUED')
})

test('a long chain of tasks runs in order, and what needs a cancelled task is cancelled with a short reason', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  const chain = [await add('0')]
  while (chain.length < 300) chain.push(await add(`${chain.length}`, { needs: [chain.at(-1)!.id], priority: 9 }))
  for (const { id } of chain.slice(0, 3)) {
    const given = await wait('a')
    assert.equal(given.type === 'task' && given.task.id, id)
    await hub.work.respond(id, 'a', { status: 'COMPLETED', message: 'ok' })
  }
  await hub.cancel(chain[3]!.id, 'me', 'no more')
  const [second, last] = [await hub.task(chain[4]!.id), await hub.task(chain.at(-1)!.id)]
  assert.equal(second.why, `${second.id} needs ${chain[3]!.id}, which was cancelled: no more`)
  assert.match(last.why!, new RegExp(`^${last.id} needs ${chain.at(-2)!.id}, which was cancelled: .{1,400}: no more$`))
  assert.deepEqual(
    (await Promise.all(chain.map(({ id }) => hub.task(id)))).map(({ state }) => state),
    chain.map((_, at) => (at < 3 ? 'COMPLETED' : 'CANCELLED')),
  )
})

test('a broadcast and an eviction arrive at the next wait, or at once at a waiting agent', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('a')
  await register('b')
  const waiting = wait('b')
  await settled()
  assert.equal(await hub.orders.broadcast('pull first', 'user'), 2)
  assert.deepEqual(
    [await waiting, await wait('a')],
    [
      { type: 'told', text: 'pull first' },
      { type: 'told', text: 'pull first' },
    ],
  )
  const { id } = await add('x')
  await wait('a')
  await hub.orders.evict('a', 'too slow')
  assert.deepEqual([(await hub.task(id)).state, await wait('a')], ['QUEUED', { type: 'evict', why: 'too slow' }])
  await assert.rejects(wait('a'), /No agent a is registered\. Call register_agent first/)
})

test('a new hub on the same ledger goes on, and a failed write changes nothing', async (t) => {
  const { hub, ledger, clock, register, wait, add } = hubAt(t)
  await register('a')
  const { id } = await add('x')
  await wait('a')
  const again = hubAt(t, ledger, clock)
  assert.deepEqual(
    [await again.hub.tasks(), (await again.hub.agents())[0]!.id, (await again.hub.state()).seq],
    [await hub.tasks(), 'a', (await hub.state()).seq],
  )
  await again.hub.work.ack(id, 'a')
  const disk = diskOf(ledger)
  disk.full = true
  await assert.rejects(again.hub.work.respond(id, 'a', { status: 'COMPLETED', message: 'done' }), /disk full/)
  assert.equal((await again.hub.task(id)).state, 'ASSIGNED')
})

test('while the ledger cannot be written nothing changes, and afterwards the hub goes on where it stood', async (t) => {
  const { hub, ledger, clock, register, wait, add } = hubAt(t)
  await register('a')
  await register('b')
  const disk = diskOf(ledger)
  const waiting = wait('b')
  await settled()
  disk.full = true
  await assert.rejects(wait('a'), /disk full/)
  await assert.rejects(add('x'), /disk full/)
  await assert.rejects(hub.orders.evict('b', 'go'), /disk full/)
  assert.deepEqual([await hub.tasks(), (await hub.agent('b')).evicted], [[], undefined])
  disk.full = false
  // The agent that waited before still waits.
  const other = await add('y')
  assert.deepEqual(
    [await waiting].map((given) => given.type === 'task' && given.task.id),
    [other.id],
  )
  const { id } = await add('x')
  await wait('a')
  disk.full = true
  await assert.rejects(wait('a'), /disk full/)
  assert.deepEqual([(await hub.agentNow('a')).waits, (await hub.task(id)).state], [false, 'PENDING_ACK'])
  await clock.turn(31_000)
  assert.equal((await hub.task(id)).state, 'PENDING_ACK')
  disk.full = false
  await clock.turn(5_000)
  assert.equal((await hub.task(id)).state, 'QUEUED')
})
