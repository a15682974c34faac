import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Script } from '../agents/scripted-agent.ts'
import type { RosterSeat } from '../../src/core/work/agent.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Envelope, Worker } from '../../src/crew/worker.ts'
import type { Rig } from './rig.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { settled } from '../hand-clock.ts'
import { budget, noBudget } from '../../src/core/work/budget.ts'
import { blobsOf } from '../../src/crew/slot-ledger.ts'
import { readEnvelope } from '../../src/crew/worker-turn.ts'
import { crewOf, place } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const worker: Worker = { name: 'look', role: 'explorer', where: 'background', turn: 't', steps: 12, minutes: 20 }
const done = {
  what_was_done: 'Looked.',
  evidence: ['a.ts:1'],
  unresolved_risks: [],
  exact_next_step: 'None.',
  status: 'completed' as const,
}
const answers: Script = [{ say: JSON.stringify(done) }]

function workers(context: Parameters<typeof crewOf>[0], scripts: Script[], part: Rig = {}) {
  const seats: RosterSeat[] = []
  const agents: ReturnType<typeof scriptedAgent>[] = []
  const seen: Event[] = []
  const open = (seat: RosterSeat) => {
    seats.push(seat)
    const agent = scriptedAgent('native', scripts, { steers: true })
    agents.push(agent)
    return agent
  }
  const host = { budget: noBudget, seen: (_: unknown, event: Event) => void seen.push(event) }
  const crew = crewOf(context, { native: open }, { host, ...part })
  const envelope = async (id: number): Promise<Envelope | undefined> => {
    const ref = (await crew.crew.slot(id)).worker?.envelope
    return ref && readEnvelope(blobsOf(crew.store, 'w'), ref)
  }
  const spawn = (more: Partial<Worker> = {}) =>
    crew.crew.spawn({ ...place, agent: 'native', task: 'look around', worker: { ...worker, ...more } })
  return { ...crew, seats, agents, seen, envelope, spawn }
}

const signed = { worker: 'worker_1', name: 'look', role: 'explorer', agent: 'native', model: 'its default model' }

test('a worker in the background has no terminal, hands over its envelope and ends', async (context) => {
  const rig = workers(context, [answers])
  await rig.spawn()
  await rig.clock.turn(1_000)
  const slot = await rig.crew.slot(1)
  assert.deepEqual([slot.state, slot.why, rig.agents[0]!.closed], ['exited', 'done', true])
  assert.deepEqual(await rig.envelope(1), { ...signed, ...done })
  assert.deepEqual(rig.seats, [
    {
      cwd: '/project',
      root: undefined,
      leash: 'edit',
      allowed: undefined,
      terminal: undefined,
      model: undefined,
      resume: undefined,
      within: undefined,
      limits: { writes: false, scope: undefined },
    },
  ])
  // The screen of the coordinator sees the events of the worker.
  assert.deepEqual(
    rig.seen.map(({ type }) => type),
    ['state', 'text', 'reply', 'usage', 'end'],
  )
})

test('a worker that is stopped hands over what it wrote last, and a failure hands over why', async (context) => {
  const rig = workers(context, [[{ type: 'reply', text: 'I read a.ts.' }, { hang: true }]])
  await rig.spawn()
  await rig.clock.turn(1_000)
  await rig.crew.kill(1)
  golden(context, await rig.envelope(1))
  assert.equal((await rig.crew.slot(1)).state, 'exited')
  const broken = workers(context, [[{ fail: { kind: 'crash', message: 'it broke' } }]])
  await broken.spawn()
  await broken.clock.turn(1_000)
  assert.deepEqual((await broken.envelope(1))?.status, 'failed')
  assert.deepEqual((await broken.crew.slot(1)).state, 'failed')
})

test('a worker whose time is over is ended, and says so', async (context) => {
  const rig = workers(context, [[{ hang: true }]])
  await rig.spawn({ minutes: 1 })
  await rig.clock.turn(61_000)
  const { status, unresolved_risks } = (await rig.envelope(1))!
  golden(context, [status, unresolved_risks])
})

test('the calls of a worker are counted against its steps, and its tokens against the budget of all', async (context) => {
  const call: Event = { type: 'call', call: '1', tool: 'Bash', input: {} }
  const purse = budget({ tokens: 1_000 })
  const usage: Event = { type: 'usage', input: 900, output: 0, source: 'reported' }
  const host = { budget: purse, seen: () => {} }
  const rig = workers(context, [[usage, call, { ...call, call: '2' }, { ...call, call: '3' }, { say: 'never' }]], {
    host,
  })
  await rig.spawn({ steps: 2 })
  await rig.clock.turn(1_000)
  golden(context, (await rig.envelope(1))!.unresolved_risks[0]!)
  assert.equal(purse.refuse(101)?.stoppedBy, 'tokens')
  await rig.spawn()
  await rig.clock.turn(1_000)
  await rig.spawn()
  await rig.clock.turn(1_000)
  assert.deepEqual([(await rig.envelope(3))!.status, rig.agents[2]?.turns.length ?? 0], ['partial', 0])
})

test('beyond the limits of the crew a worker is held until another one is done', async (context) => {
  const rig = workers(context, [[{ hang: true }], answers], { limits: { perWorkspace: 2, total: 20 } })
  for (let n = 0; n < 3; n++) await rig.spawn()
  await rig.clock.turn(1_000)
  const states = async () => (await rig.crew.slots()).map(({ state }) => state)
  assert.deepEqual(await states(), ['busy', 'busy', 'held'])
  await rig.crew.kill(1)
  await rig.clock.turn(1_000)
  assert.deepEqual(await states(), ['exited', 'busy', 'busy'])
})

test('a message to a worker at work reaches it in its turn', async (context) => {
  const heard: string[][] = []
  const rig = workers(context, [[{ wait: 2_000 }, ...answers]])
  await rig.spawn()
  await rig.clock.turn(500)
  await rig.crew.send(1, 'only the tests')
  heard.push(await rig.agents[0]!.turns[0]!.steer())
  await rig.clock.turn(3_000)
  await settled()
  assert.deepEqual(heard, [['only the tests']])
  assert.deepEqual([(await rig.crew.slot(1)).state, rig.agents[0]!.turns.length], ['exited', 1])
  const kept: string[] = []
  for await (const { item } of rig.crew.log(1).read()) if (item?.type === 'steer') kept.push(item.text)
  assert.deepEqual(kept, ['only the tests'])
})

test('a message that came too late for the turn begins another one, and the last envelope counts', async (context) => {
  const second = { ...done, what_was_done: 'Looked again.' }
  const rig = workers(context, [[{ wait: 1_000 }, ...answers], [{ say: JSON.stringify(second) }]])
  await rig.spawn()
  await rig.clock.turn(500)
  await rig.crew.send(1, 'and the tests')
  await rig.clock.turn(3_000)
  assert.equal((await rig.envelope(1))!.what_was_done, 'Looked again.')
})

test('a worker begins in the place that its coordinator gives it, and is closed before its work is brought back', async (context) => {
  const order: string[] = []
  const settling = Promise.withResolvers<void>()
  const host = {
    budget: noBudget,
    seen: () => {},
    begin: async () => ({ cwd: '/copy/src', path: '/copy', told: 'You work in a copy.' }),
    async settle(_: unknown, envelope: Envelope, { done }: { done: boolean }) {
      order.push(`settled, done: ${done}, closed: ${rig.agents[0]!.closed}`)
      await settling.promise
      return { ...envelope, changed_paths: ['a.ts'] }
    },
  }
  const rig = workers(context, [answers], { host })
  await rig.spawn({ apart: {} })
  await rig.clock.turn(1_000)
  assert.deepEqual(
    [rig.seats[0]!.cwd, rig.seats[0]!.root, rig.agents[0]!.turns[0]!.prompt],
    ['/copy/src', '/copy', 'look around\n\nYou work in a copy.'],
  )
  assert.deepEqual(order, ['settled, done: true, closed: true'])
  await golden.rejects(context, rig.crew.send(1, 'one more thing'))
  settling.resolve()
  await rig.clock.turn(1_000)
  assert.deepEqual(await rig.envelope(1), { ...signed, ...done, changed_paths: ['a.ts'] })
  assert.equal((await rig.crew.slot(1)).state, 'exited')
})

test('a worker whose place cannot be made fails with the reason; one that is stopped while its work is brought back ends', async (context) => {
  const noPlace = { budget: noBudget, seen: () => {}, begin: () => Promise.reject(new Error('the disk is full')) }
  const failing = workers(context, [answers], { host: noPlace })
  await failing.spawn({ apart: {} })
  await failing.clock.turn(1_000)
  const { state, why } = await failing.crew.slot(1)
  assert.deepEqual([state, why, failing.agents.length], ['failed', 'the disk is full', 0])

  const asking = {
    budget: noBudget,
    seen: () => {},
    // As a card does that waits for an answer.
    settle: (_: unknown, envelope: Envelope, { signal }: { signal: AbortSignal }) =>
      new Promise<Envelope>((resolve) =>
        signal.addEventListener('abort', () => resolve({ ...envelope, status: 'partial', copy: '/copy' })),
      ),
  }
  const stopped = workers(context, [answers], { host: asking })
  await stopped.spawn({ apart: { path: '/copy' } })
  await stopped.clock.turn(1_000)
  assert.equal((await stopped.crew.slot(1)).state, 'busy')
  await stopped.crew.kill(1)
  assert.deepEqual(
    [(await stopped.crew.slot(1)).why, await stopped.envelope(1)],
    ['killed', { ...signed, ...done, status: 'partial', copy: '/copy' }],
  )
})
