import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Script } from '../../../src/agents/scripted-agent.ts'
import type { Event } from '../../../src/core/talk/entry.ts'
import type { Tool } from '../../../src/core/work/tool.ts'
import type { ModelScript } from '../../../src/models/scripted-model.ts'
import { scriptedAgent } from '../../../src/agents/scripted-agent.ts'
import { nativeAgent } from '../../../src/agents/native/native-loop.ts'
import { frameOf } from '../../../src/agents/native/model-messages.ts'
import { digestOf } from '../../../src/crew/workers/digest.ts'
import { FinalAnswer } from '../../../src/crew/workers/final-answer.ts'
import { InnerWorks } from '../../../src/core/work/inner-work.ts'
import { coordinated } from '../../../src/crew/workers/coordinator.ts'
import { workerTools } from '../../../src/crew/workers/worker-tools.ts'
import { failed } from '../../../src/core/talk/outcome.ts'
import { scriptedModel } from '../../../src/models/scripted-model.ts'
import type { Rig } from '../rig.ts'
import { turnOf } from '../../contract/agent.ts'
import { answers, boardOf, wish } from './board-rig.ts'

/** A native coordinator with a scripted model and workers that play the script of their name. */
function coordinator(context: TestContext, model: ModelScript[], workers: Record<string, Script> = {}, part: Rig = {}) {
  const rig = boardOf(context, workers, part)
  const scripted = scriptedModel(model)
  const final = new FinalAnswer(rig.board)
  const desk = { board: rig.board, clock: rig.clock, agents: () => [{ name: 'native' }] }
  const tools: Tool[] = workerTools(desk)
  const native = nativeAgent({
    name: 'native',
    model: scripted,
    tools,
    policy: async () => ({ verdict: 'yes', why: 'it is a test' }),
    frame: frameOf('Coordinate.', tools),
    aside: () => digestOf(rig.board, rig.clock.now()),
    ends: () => final.holdsBack(),
  })
  let closed = 0
  const agent = coordinated(native, async (_, seen) => {
    rig.shown.to = seen
    return {
      board: rig.board,
      final,
      async close() {
        closed++
        await rig.board.stopAll()
      },
    }
  })
  const run = (signal = new AbortController().signal, inside?: InnerWorks) => {
    const events: Event[] = []
    const over = (async () => {
      for await (const event of agent.turn(turnOf({ id: 'turn', clock: rig.clock, signal, inside, prompt: 'Do it.' })))
        events.push(event)
      const end = events.at(-1)!
      return end.type === 'end' ? end.outcome : assert.fail('no end')
    })()
    return { events, over }
  }
  return { ...rig, model: scripted, run, closed: () => closed }
}

const call = (id: string, tool: string, input: unknown) => ({ type: 'call' as const, id, tool, input })
const spawn = (...names: string[]) => [call('s', 'spawn_workers_batch', { workers: names.map((name) => wish(name)) })]
const gather = [call('g', 'await_workers', {})]

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
    'These workers were not heard before the answer. Their handoffs:\n\nworker_1 (explorer, a; native): completed. Looked.\nEvidence:\n- a.ts:1\nNext step: None.'
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
  const agent = coordinated(cli, async () => {
    await rig.board.spawn([wish('a')])
    return { board: rig.board, final, close: () => rig.board.stopAll() }
  })
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
    { limits: { perWorkspace: 1, total: 20 } },
  )
  const { over, events } = rig.run(undefined, inside)
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
