import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Script } from '../../agents/scripted-agent.ts'
import type { Event } from '../../../src/core/talk/entry.ts'
import type { ModelScript } from '../../models/scripted-model.ts'
import { scriptedAgent } from '../../agents/scripted-agent.ts'
import { FinalAnswer } from '../../../src/crew/workers/final-answer.ts'
import { InnerWorks } from '../../../src/core/work/inner-work.ts'
import { coordinatingAgent } from '../../../src/crew/workers/coordinator.ts'
import { usualLimits } from '../../../src/core/work/tree-budget.ts'
import { failed } from '../../../src/core/talk/outcome.ts'
import { turnOf } from '../../contract/agent.ts'
import { answers, boardOf, wish } from './board-rig.ts'
import { coordinator, gather, spawn } from './coordinator-rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a coordinator spawns four workers, waits for them, and answers from their handoffs', async (context) => {
  const all = 'By worker_1, worker_2, worker_3 and worker_4: done.'
  const rig = coordinator(context, [spawn('a', 'b', 'c', 'd'), gather, [{ say: all }]], {
    b: [{ wait: 3_000 }, ...(answers({ what_was_done: 'SECRET TRANSCRIPT' }) as [])],
  })
  const { over, events } = rig.run()
  await rig.clock.turn(5_000)
  assert.deepEqual(await over, { ok: true, text: all })
  // The digest is told aside, and no message holds it.
  golden(
    context,
    rig.model.requests.map(({ aside }) => aside?.split('\n')[0]),
  )
  const messages = JSON.stringify(rig.model.requests.map(({ messages }) => messages))
  assert.equal(messages.includes('The state of your workers'), false)
  const inner = events.flatMap((event) => (event.type === 'inner' ? [event.role] : []))
  const ended = events.flatMap((event) => (event.type === 'inner' && event.event.type === 'end' ? [event.role] : []))
  assert.deepEqual([ended.length, new Set(ended).size], [4, 4])
  assert.deepEqual([...new Set(inner)].sort(), [
    'worker_1 explorer',
    'worker_2 explorer',
    'worker_3 explorer',
    'worker_4 explorer',
  ])
  assert.equal(rig.closed(), 1)
})

test('an answer too early is kept and held back; refused again, the handoffs complete it', async (context) => {
  const rig = coordinator(
    context,
    [spawn('a'), [{ say: 'Too early.' }], [{ say: 'Still early.' }], [{ say: 'Enough.' }]],
    {
      a: [{ wait: 30_000 }, ...(answers() as [])],
    },
  )
  const { over, events } = rig.run()
  await rig.clock.turn(60_000)
  const outcome = await over
  golden(context, outcome)
  golden(
    context,
    events.flatMap((event) => (event.type === 'reply' ? [event.text] : [])),
  )
})

test('spawning and waiting in one step is refused with words, and the spawn goes on', async (context) => {
  const both = [...spawn('a'), ...gather]
  const rig = coordinator(context, [both, gather, [{ say: 'worker_1 is done.' }]])
  const { over, events } = rig.run()
  await rig.clock.turn(5_000)
  assert.equal((await over).ok, true)
  const results = events.flatMap((event) => (event.type === 'result' ? [[event.ok, event.text.split('.')[0]]] : []))
  golden(context, results)
})

const asks: Script = [{ ask: { about: 'choice', text: 'May I?', from: [], options: [] } }]
const hang = { hang: true as const }
const early = [{ say: 'Early.' }]

/** The moments of a cancel: what the model of the coordinator says, what the workers do, and which of them the cancel stops. */
const phases: { phase: string; model: ModelScript[]; a?: Script; b?: Script; places?: number; stopped: string[] }[] = [
  { phase: 'before the spawn', model: [[hang]], stopped: [] },
  { phase: 'while the workers run', model: [spawn('a', 'b'), [hang]], stopped: ['worker_1', 'worker_2'] },
  { phase: 'while one is held', model: [spawn('a', 'b'), [hang]], places: 1, stopped: ['worker_1', 'worker_2'] },
  { phase: 'while one asks', model: [spawn('a', 'b'), [hang]], a: asks, stopped: ['worker_1', 'worker_2'] },
  { phase: 'when one is done and unread', model: [spawn('a', 'b'), [hang]], a: answers(), stopped: ['worker_2'] },
  { phase: 'while they are waited for', model: [spawn('a', 'b'), gather], stopped: ['worker_1', 'worker_2'] },
  { phase: 'when they are heard', model: [spawn('a', 'b'), gather, [hang]], a: answers(), b: answers(), stopped: [] },
  { phase: 'when an answer is held back', model: [spawn('a', 'b'), early, [hang]], stopped: ['worker_1', 'worker_2'] },
  { phase: 'while termaite waits for them', model: [spawn('a', 'b'), early], stopped: ['worker_1', 'worker_2'] },
  {
    phase: 'in the middle of the answer',
    model: [spawn('a', 'b'), gather, [{ say: 'worker_1 and' }, hang]],
    a: answers(),
    b: answers(),
    stopped: [],
  },
]

test('a cancel ends all workers, in whatever phase they are', async (context) => {
  for (const { phase, model, a = [hang], b = [hang], places = 10, stopped } of phases) {
    const rig = coordinator(context, model, { a, b }, { places: { perWorkspace: places, total: 20 } })
    const cancel = new AbortController()
    const { over, events } = rig.run(cancel.signal)
    await rig.clock.turn(2_000)
    cancel.abort()
    await rig.clock.turn(20_000)
    assert.deepEqual(await over, failed('aborted', 'cancelled'), phase)
    assert.deepEqual([rig.agents.filter(({ running }) => running), rig.model.running, rig.closed()], [[], 0, 1], phase)
    const workers = await rig.board.all()
    assert.deepEqual(
      workers.map(({ slot }) => slot.state),
      workers.map(() => 'exited'),
      phase,
    )
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'note' ? [event.text] : [])),
      stopped.length === 0 ? [] : [`Stopped with the turn: ${stopped.join(', ')}.`],
      phase,
    )
  }
})

test('whatever a worker does, its coordinator hears of it and the turn ends with an answer', async (context) => {
  const step: Event = { type: 'call', call: '1', tool: 'bash', input: { command: 'npm test' } }
  const workers: Record<string, Script> = {
    dies: [{ fail: { kind: 'crash', message: 'it broke' } }],
    hangs: [{ hang: true }],
    prose: [{ say: 'I think it works.' }],
    legacy: [{ say: JSON.stringify({ summary: 'Read it.', findings: ['b.ts:2'], risks: [], next_step: 'None.' }) }],
    steps: Array.from({ length: 20 }, (_, n) => ({ ...step, call: String(n) })),
  }
  const names = Object.keys(workers)
  const answer = names.map((_, n) => `worker_${n + 1}`).join(', ')
  const rig = coordinator(context, [spawn(...names), gather, gather, gather, [{ say: answer }]], workers)
  const { over, events } = rig.run()
  // A worker that hangs is ended by its own time, while the coordinator waits again and again.
  await rig.clock.turn(25 * 60_000)
  assert.deepEqual(await over, { ok: true, text: answer })
  const envelopes = await Promise.all((await rig.board.all()).map((view) => rig.board.envelope(view)))
  golden(
    context,
    envelopes.map(({ name, status, unresolved_risks: risks }) => [name, status, risks[0]]),
  )
  assert.equal(envelopes[4]!.evidence.length, 10)
  const ended = events.flatMap((event) => (event.type === 'inner' && event.event.type === 'end' ? [event.role] : []))
  assert.equal(new Set(ended).size, 5)
})

test('results that are never fetched are waited for and told by termaite', async (context) => {
  const rig = coordinator(context, [spawn('a', 'b'), [{ say: 'Nothing to see.' }]], { b: [{ wait: 60_000 }] })
  const { over } = rig.run()
  await rig.clock.turn(120_000)
  const outcome = await over
  golden(context, outcome.ok ? outcome.text : '')
  assert.equal(rig.model.requests.length, 4)
})

test('another program as the coordinator is given a second piece when it answers too early', async (context) => {
  const rig = boardOf(context, { a: [{ wait: 1_000 }, ...(answers() as [])] })
  const final = new FinalAnswer(rig.board)
  const cli = scriptedAgent('claude', [[{ say: 'Too early.' }], [{ say: 'Done, by worker_1.' }]])
  const agent = coordinatingAgent(
    cli,
    async () => {
      await rig.board.spawn([wish('a')])
      return { board: rig.board, final, close: () => rig.board.stopAll() }
    },
    usualLimits,
  )
  const events: Event[] = []
  const over = (async () => {
    for await (const event of agent.turn(turnOf({ id: 'turn', clock: rig.clock, prompt: 'Do it.' }))) events.push(event)
  })()
  await rig.clock.turn(30_000)
  await over
  golden(context, cli.turns[1]!.prompt)
  assert.deepEqual(
    cli.turns[1]!.history.map((entry) => [entry.type, entry.by]),
    [
      ['prompt', 'user'],
      ['reply', 'claude'],
      ['usage', 'claude'],
      ['end', 'claude'],
    ],
  )
})

test('every worker is shown from its spawn to its end, also one that waits, and can be stopped by the person', async (context) => {
  const inside = new InnerWorks()
  const rig = coordinator(
    context,
    [spawn('a', 'b', 'c'), gather, [{ say: 'worker_1, worker_2 and worker_3.' }]],
    { a: [{ hang: true }], b: answers({ status: 'partial' }), c: [{ hang: true }] },
    { places: { perWorkspace: 1, total: 20 } },
  )
  const { over, events } = rig.run(undefined, { inside })
  await rig.clock.turn(2_000)
  assert.deepEqual(inside.roles, ['worker_1 explorer', 'worker_2 explorer', 'worker_3 explorer'])
  await Promise.all([inside.get('worker_3 explorer')!.stop(), rig.clock.turn(1_000)])
  await Promise.all([inside.get('worker_1 explorer')!.stop(), rig.clock.turn(20_000)])
  assert.equal((await over).ok, true)
  assert.deepEqual(inside.roles, [])
  const told = (id: number) =>
    events.flatMap((event) => {
      if (event.type !== 'inner' || event.role !== `worker_${id} explorer`) return []
      const { event: inner } = event
      return inner.type === 'state' ? [inner.state] : inner.type === 'end' ? [inner.status] : []
    })
  assert.deepEqual(
    [told(1), told(2), told(3)],
    [
      ['starting', 'stopped'],
      ['held', 'starting', 'partial'],
      ['held', 'stopped'],
    ],
  )
})
