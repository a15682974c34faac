import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../../src/core/talk/entry.ts'
import { scriptedAgent } from '../../../src/agents/scripted-agent.ts'
import { FinalAnswer } from '../../../src/crew/workers/final-answer.ts'
import { InnerWorks } from '../../../src/core/work/inner-work.ts'
import { coordinated } from '../../../src/crew/workers/coordinator.ts'
import { usualLimits } from '../../../src/crew/workers/tree-budget.ts'
import { failed } from '../../../src/core/talk/outcome.ts'
import { turnOf } from '../../contract/agent.ts'
import { answers, boardOf, wish } from './board-rig.ts'
import { coordinator, gather, spawn } from './coordinator-rig.ts'

test('a coordinator spawns four workers, waits for them, and answers from their handoffs', async (context) => {
  const all = 'By worker_1, worker_2, worker_3 and worker_4: done.'
  const rig = coordinator(context, [spawn('a', 'b', 'c', 'd'), gather, [{ say: all }]], {
    b: [{ wait: 3_000 }, ...(answers({ what_was_done: 'SECRET TRANSCRIPT' }) as [])],
  })
  const { over, events } = rig.run()
  await rig.clock.turn(5_000)
  assert.deepEqual(await over, { ok: true, text: all })
  // The digest is told aside, and no message holds it.
  assert.deepEqual(
    rig.model.requests.map(({ aside }) => aside?.split('\n')[0]),
    [
      undefined,
      'The state of your workers now: 4 running, 0 handoffs not read, 0 read.',
      'The state of your workers now: 0 running, 0 handoffs not read, 4 read.',
    ],
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
  const completion =
    'These workers were not heard before the answer. Their handoffs:\n\nworker_1 (explorer, a; native, a-model): completed. Looked.\nEvidence:\n- a.ts:1\nNext step: None.'
  assert.deepEqual(outcome, { ok: true, text: `Enough.\n\n${completion}` })
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'reply' ? [event.text] : [])),
    ['Too early.', 'Still early.', 'Enough.', completion],
  )
})

test('spawning and waiting in one step is refused with words, and the spawn goes on', async (context) => {
  const both = [...spawn('a'), ...gather]
  const rig = coordinator(context, [both, gather, [{ say: 'worker_1 is done.' }]])
  const { over, events } = rig.run()
  await rig.clock.turn(5_000)
  assert.equal((await over).ok, true)
  const results = events.flatMap((event) => (event.type === 'result' ? [[event.ok, event.text.split('.')[0]]] : []))
  assert.deepEqual(results, [
    [true, 'worker_1: explorer "a" by native, starting'],
    [false, 'Skipped: workers are being spawned in the same step'],
    [true, results[2]![1]],
  ])
})

test('a cancel ends all workers, in whatever phase they are', async (context) => {
  for (const phase of ['spawned', 'waited for', 'answered too early'] as const) {
    const next = phase === 'waited for' ? gather : phase === 'spawned' ? [{ hang: true as const }] : [{ say: 'Early.' }]
    const rig = coordinator(context, [spawn('a', 'b'), next, [{ hang: true }]], {
      a: [{ hang: true }],
      b: [{ hang: true }],
    })
    const cancel = new AbortController()
    const { over, events } = rig.run(cancel.signal)
    await rig.clock.turn(2_000)
    cancel.abort()
    await rig.clock.turn(20_000)
    assert.deepEqual(await over, failed('aborted', 'cancelled'), phase)
    assert.deepEqual(
      rig.agents.filter(({ running }) => running),
      [],
    )
    assert.deepEqual(
      (await rig.board.all()).map(({ slot }) => slot.state),
      ['exited', 'exited'],
    )
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'note' ? [event.text] : [])),
      ['Stopped with the turn: worker_1, worker_2.'],
    )
  }
})

test('another program as the coordinator is given a second piece when it answers too early', async (context) => {
  const rig = boardOf(context, { a: [{ wait: 1_000 }, ...(answers() as [])] })
  const final = new FinalAnswer(rig.board)
  const cli = scriptedAgent('claude', [[{ say: 'Too early.' }], [{ say: 'Done, by worker_1.' }]])
  const agent = coordinated(
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
  assert.match(cli.turns[1]!.prompt, /worker_1 is still at work: call await_workers/)
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
