import type { Agent, Leash, RosterSeat, Turn } from '../../src/core/work/agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { Crew } from '../../src/crew/crew.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { crewOf, machine, place } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const soon = 30_000

test('a spawned agent answers, stays idle, and its artifact is its answer', async (context) => {
  const { find, pasted, answer, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  const { id, state } = await crew.spawn({ ...place, agent: 'claude', task: 'audit' })
  assert.deepEqual([id, state], [1, 'starting'])
  await clock.turn(200)
  assert.equal((await crew.slot(1)).state, 'busy')
  answer(1, 'all is well')
  await clock.turn(200)
  for (let look = 0; look < 2; look++) {
    const [waited] = await crew.wait([1], { until: clock.elapsed() + soon })
    assert.deepEqual([waited!.settled, waited!.slot!.state, waited!.slot!.last?.by], [true, 'idle', 'fence'])
  }
  assert.deepEqual(await crew.artifact(1), { output: 'all is well', truncated: false, fenced: true })
  assert.deepEqual(pasted, ['audit'])
})

test('a turn of a slot is on the leash that a person gave the slot, and never looser than the sandbox that spawned it', async (context) => {
  const { find, answer, seat } = machine()
  const held: Leash[] = []
  const watched = (given: RosterSeat): Agent => {
    const agent = seat('claude')(given)
    const turn = (one: Turn) => (held.push(one.leash), agent.turn(one))
    return { ...agent, turn }
  }
  const { crew, clock } = crewOf(context, { claude: watched }, { find })
  const asked = { ...place, leash: 'ask' as const, agent: 'claude', task: 'audit' }
  const seats = [{}, { allowed: 'edit' as const }, { allowed: 'all' as const }, { leash: 'all' as const, within: '/p' }]
  for (const [at, more] of seats.entries()) {
    await crew.spawn({ ...asked, ...more })
    await clock.turn(200)
    answer(at + 1, 'done')
    await clock.turn(200)
  }
  assert.deepEqual(held, ['ask', 'edit', 'all', 'edit'])
})

test('a slot that depends on an idle slot starts at once', async (context) => {
  const { find, pasted, answer, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  await crew.spawn({ ...place, agent: 'claude', task: 'audit' })
  await clock.turn(200)
  answer(1, 'three faults')
  await clock.turn(200)
  await crew.wait([1], { until: clock.elapsed() + soon })
  const { state } = await crew.spawn({ ...place, agent: 'claude', task: 'sum up {{slot_1.output}}', dependsOn: [1] })
  assert.equal(state, 'starting')
  await clock.turn(200)
  assert.deepEqual(pasted, ['audit', 'sum up <output slot="1">'])
})

test('two prompts to a busy agent are queued and sent once each, in order, and a wait after them waits for both', async (context) => {
  const { find, pasted, answer, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  await crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await clock.turn(200)
  await crew.send(1, 'two')
  await crew.send(1, 'three')
  await clock.turn(1_000)
  assert.deepEqual(pasted, ['one'])
  for (const n of [1, 2, 3]) {
    answer(1, `answer ${n}`)
    await clock.turn(300)
  }
  assert.deepEqual(pasted, ['one', 'two', 'three'])
  assert.equal((await crew.artifact(1)).output, 'answer 3')
  assert.equal((await crew.send(1, 'four')).state, 'busy')
  const waiting = crew.wait([1], { until: clock.elapsed() + soon })
  await clock.turn(300)
  answer(1, 'answer 4')
  await clock.turn(300)
  assert.deepEqual(
    (await waiting).map(({ settled }) => settled),
    [true],
  )
  assert.equal((await crew.artifact(1)).output, 'answer 4')
})

test('a prompt whose id was chosen is sent once: while it waits, while it is under way, and after other turns', async (context) => {
  const { find, pasted, answer, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  await crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await clock.turn(200)
  const again = () => crew.send(1, 'two', 'chosen')
  for (let sends = 0; sends < 2; sends++)
    assert.deepEqual((await again()).queue, [{ id: 'chosen', text: 'two' }], 'in the queue')
  answer(1, 'first')
  await clock.turn(300)
  assert.equal((await again()).flight?.turn, 'chosen')
  answer(1, 'second')
  await clock.turn(300)
  assert.deepEqual([(await again()).state, (await crew.slot(1)).last?.turn], ['idle', 'chosen'])
  await crew.send(1, 'three')
  await clock.turn(300)
  answer(1, 'third')
  await clock.turn(300)
  assert.equal((await again()).state, 'idle')
  await crew.kill(1)
  assert.equal((await again()).state, 'exited')
  assert.deepEqual(pasted, ['one', 'two', 'three'])
})

test('an agent without a task is ready and idle; its first send is its first turn', async (context) => {
  const { find, pasted, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  await crew.spawn({ ...place, agent: 'claude' })
  await clock.turn(200)
  assert.equal((await crew.slot(1)).state, 'idle')
  await golden.rejects(context, crew.artifact(1))
  await crew.send(1, 'now')
  await clock.turn(200)
  assert.deepEqual([(await crew.slot(1)).state, pasted], ['busy', ['now']])
})

test('when the second of three slots is killed, the others keep their numbers and the next is number four', async (context) => {
  const { find, host, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  for (const task of ['a', 'b', 'c']) await crew.spawn({ ...place, agent: 'claude', task })
  await clock.turn(200)
  const terminal = (await crew.slot(2)).terminal!.id
  assert.equal(await crew.kill(2), true)
  assert.equal(await host.find(terminal), undefined)
  assert.equal(await crew.kill(2), false)
  assert.equal((await crew.spawn({ ...place, agent: 'claude', task: 'd' })).id, 4)
  await clock.turn(200)
  assert.deepEqual(
    (await crew.slots()).map(({ id, task, state, why }) => [id, task, state, why]),
    [
      [1, 'a', 'busy', undefined],
      [2, 'b', 'exited', 'killed'],
      [3, 'c', 'busy', undefined],
      [4, 'd', 'busy', undefined],
    ],
  )
  await assert.rejects(crew.send(2, 'hello'), {
    message: 'slot 2 has stopped: it is exited (killed). Spawn another agent.',
  })
})

test('an agent that exits after its answer has finished, one that exits before it has failed', async (context) => {
  const { find, answer, exit, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  for (const task of ['a', 'b']) await crew.spawn({ ...place, agent: 'claude', task })
  await clock.turn(200)
  answer(1, 'done')
  await clock.turn(200)
  exit(1, 0)
  exit(2, 3)
  await clock.turn(200)
  const after = await crew.spawn({ ...place, agent: 'claude', task: 'next', dependsOn: [1] })
  assert.equal(after.state, 'starting')
  assert.deepEqual(
    (await crew.slots()).slice(0, 2).map(({ state, why, terminal }) => [state, why, terminal]),
    [
      ['exited', 'exited with code 0', undefined],
      ['failed', 'it exited before it answered', undefined],
    ],
  )
  assert.equal((await crew.artifact(1)).output, 'done')
  assert.match((await crew.read(1, { lines: 50, until: 0 })).output, /^answer: done$/m)
})

test('closing a workspace ends its agents, drops their conversations and starts the numbers again', async (context) => {
  const { find, answer, seat } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find })
  for (const task of ['a', 'b']) await crew.spawn({ ...place, agent: 'claude', task })
  await clock.turn(200)
  answer(1, 'done')
  await clock.turn(200)
  assert.deepEqual(await crew.close(), { ended: 2, kept: [] })
  assert.deepEqual(await crew.slots(), [])
  await golden.rejects(context, crew.artifact(1))
  assert.equal((await crew.spawn({ ...place, agent: 'claude', task: 'new' })).id, 1)
  await settled()
})

test('an agent that is spawned while a workspace is being closed is ended with it', async (context) => {
  const { find, seat } = machine()
  const store = memoryStore()
  const { crew, clock, parts } = crewOf(context, { claude: seat('claude') }, { find, store })
  await crew.spawn({ ...place, agent: 'claude', task: 'a' })
  await clock.turn(200)
  // Between the last look and the end of it, as another process would.
  const late = new Crew({
    ...parts,
    store: {
      ...store,
      blobs: (name) => ({
        ...store.blobs(name),
        clear: async () => {
          if ((await crew.slots()).length === 1) await crew.spawn({ ...place, agent: 'claude', task: 'late' })
          await store.blobs(name).clear()
        },
      }),
    },
  })
  const closing = late.close()
  for (let turns = 0; turns < 5; turns++) await clock.turn(200)
  assert.deepEqual(await closing, { ended: 2, kept: [] })
  assert.deepEqual(await crew.slots(), [])
})
