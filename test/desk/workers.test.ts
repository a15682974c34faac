import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { EarlierWork } from '../../src/core/talk/command.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { runOpened } from '../../src/app/turn.ts'
import { RunningTurns } from '../../src/core/turns/running-turns.ts'
import { InnerWorks } from '../../src/core/work/inner-work.ts'
import { consult } from '../../src/core/work/verbs.ts'
import { Crew } from '../../src/crew/crew.ts'
import { blobsOf, logOf, SlotLedger } from '../../src/crew/slot-ledger.ts'
import { keepEnvelope } from '../../src/crew/worker-turn.ts'
import { workersOf } from '../../src/home/worker-crews.ts'
import { plain, seated, type Seat } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Keeps a worker of an earlier turn, as it is after its end. */
async function keep(seat: Seat): Promise<void> {
  const { store, io } = seat.app
  const workspace = workersOf(seat.app)
  const ledger = new SlotLedger(store, workspace, io.clock)
  const crew = new Crew({
    store,
    workspace,
    clock: io.clock,
    owner: 'me',
    alive: () => true,
    isKeeper: true,
    names: () => ['native'],
    find: async () => undefined,
    limits: { perWorkspace: 10, total: 20 },
    elsewhere: async () => 0,
  })
  const worker = {
    name: 'api',
    role: 'explorer' as const,
    where: 'background' as const,
    turn: 'old',
    steps: 12,
    minutes: 20,
  }
  await crew.spawn({ agent: 'native', task: 'Look.', cwd: '/project', leash: 'read', worker })
  const at = { session: 's', turn: 'old.1', by: 'native' }
  const log = logOf(store, workspace, 1)
  await log.append({ type: 'prompt', text: 'Look.', id: 'a', at: 1000, ...at, by: 'user' })
  await log.append({ type: 'usage', input: 900, output: 100, source: 'reported', id: 'b', at: 4000, ...at })
  const envelope = await keepEnvelope(blobsOf(store, workspace), {
    worker: 'worker_1',
    name: 'api',
    role: 'explorer',
    agent: 'native',
    model: 'a-model',
    what_was_done: 'Read the API.',
    evidence: ['api.ts:1'],
    unresolved_risks: [],
    exact_next_step: 'None.',
    status: 'partial',
  })
  await ledger.edit(1, ({ terminal: _, ...slot }) => ({
    ...slot,
    state: 'exited',
    why: '',
    queue: [],
    wish: undefined,
    flight: undefined,
    asks: undefined,
    worker: { ...worker, envelope },
  }))
}

test('/workers shows what is kept of the workers of earlier turns, with their handoffs', async (t) => {
  const seat = await seated(t, plain({ one: 'cat' }))
  golden(t, await seat.type('/workers'))
  await keep(seat)
  assert.deepEqual(await seat.type('/workers'), [
    ['note', 'worker_1 explorer by native: partial. Read the API. Evidence: - api.ts:1 Next step: None.'],
  ])
  assert.deepEqual(await seat.type('/workers show worker_1'), [
    ['text', 'Read the API.\n\nEvidence:\n- api.ts:1\n\nNext step: None.'],
  ])
  golden(t, await seat.type('/workers show worker_7'))
  const boards: (readonly EarlierWork[])[] = []
  seat.world.screen.board = (earlier) => boards.push(earlier) > 0
  assert.deepEqual(await seat.type('/workers'), [])
  const [{ entries, text: _, ...row }] = boards[0] as [EarlierWork]
  assert.deepEqual(row, {
    turn: 'old',
    role: 'worker_1 explorer',
    by: 'native',
    status: 'partial',
    since: 1000,
    ms: 3000,
    tokens: 1000,
  })
  assert.deepEqual(
    (await entries()).map(({ type }) => type),
    ['prompt', 'usage'],
  )
  delete seat.world.screen.board
})

test('/workers stop asks where work would be lost, and stops at once where none would', async (t) => {
  const seat = await seated(t, plain({ one: 'cat' }))
  const stopped: string[] = []
  for (const [role, loses] of [
    ['worker_1 explorer', 'Its handoff says how far it came.'],
    ['worker_2 verifier', undefined],
    ['enumerator', 'Its answer is not used then.'],
  ] as const)
    seat.inside.enter(role, { agent: 'native', loses: () => loses, stop: () => void stopped.push(role) })
  seat.answers.push(['no'], ['stop'], undefined)
  await seat.type('/workers stop worker_1')
  assert.deepEqual(stopped, [])
  await seat.type('/workers stop worker_1 explorer')
  await seat.type('/workers stop worker_2')
  // A role is also known by the name that the rows show.
  await seat.type('/workers stop lists options')
  assert.deepEqual(stopped, ['worker_1 explorer', 'worker_2 verifier'])
  assert.deepEqual(
    seat.asked.map(({ text }) => text),
    [
      'Stop worker_1 explorer (native)? Its handoff says how far it came.',
      'Stop worker_1 explorer (native)? Its handoff says how far it came.',
      'Stop lists options (native)? Its answer is not used then.',
    ],
  )
  golden(t, await seat.type('/workers stop nobody'))
  golden(t, await seat.type('/workers attach worker_1'))
  golden(t, await seat.type('/workers halt worker_1'))
  assert.deepEqual(await seat.complete('workers', 'stop w'), ['stop worker_1 explorer', 'stop worker_2 verifier'])
})

test('every kind of turn lets the desk find the agents that work inside it', async (t) => {
  const seat = await seated(t, plain({ one: 'cat' }))
  const inside = new InnerWorks()
  const reach = { cancel: () => {}, steer: () => false, answer: () => false }
  const seen: string[][] = []
  const agent: Agent = {
    name: 'lead',
    traits: { window: 1_000, memory: 'none', talks: true, steers: false },
    async *turn(turn) {
      const asked = consult(scriptedAgent('critic', [[{ say: 'no' }]]), 'critic', turn)
      for await (const event of asked) {
        seen.push(inside.roles)
        yield event
      }
      yield { type: 'end', outcome: { ok: true, text: 'done' } }
    },
    async close() {},
  }
  const peers = { turns: new RunningTurns(), reach, inside }
  const world = { cwd: seat.folder, leash: 'read' as const, signal: seat.stop.signal }
  for await (const _ of runOpened(seat.app, { prompt: 'go', peers }, async () => ({ agent, world })));
  assert.deepEqual([seen[0], inside.roles], [['critic'], []])
})
