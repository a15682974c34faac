import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { Script } from '../agents/scripted-agent.ts'
import type { ModelScript } from '../models/scripted-model.ts'
import { digestOf } from '../../src/crew/workers/digest.ts'
import { FinalAnswer } from '../../src/crew/workers/final-answer.ts'
import { adoptWorkers, endLostWorkers } from '../../src/crew/workers/lost-workers.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { sized } from '../full.ts'
import { answers, boardOf, wish } from './workers/board-rig.ts'
import { call, coordinator } from './workers/coordinator-rig.ts'

const never = new AbortController().signal

/** Scripts of workers, by name. */
const deeds: Record<string, Script> = {
  answers: answers(),
  prose: [{ say: 'It works, I think.' }],
  silent: [],
  dies: [{ fail: { kind: 'crash', message: 'it broke' } }],
  limited: [{ fail: { kind: 'unfinished', message: 'stopped', stoppedBy: 'steps' } }],
  hangs: [{ hang: true }],
  slow: [{ wait: 20_000 }, ...(answers() as [])],
}
const deed = fc.constantFrom(...Object.keys(deeds))

/** Asserts that a text accounts for each worker: in the answer itself, or in one line that termaite added, and never in two. */
function assertAccounted(answer: string, added: string, workers: number): void {
  for (let n = 1; n <= workers; n++) {
    const lines = added.split('\n').filter((line) => new RegExp(`^(- )?worker_${n} \\(`).test(line))
    const named = new RegExp(`\\bworker_${n}\\b`).test(answer)
    assert.ok(lines.length === 1 || (named && lines.length === 0), `worker_${n} in ${answer}\n${added}`)
  }
}

test('whatever a coordinator and its workers do, the answer accounts for every worker once', async (context) => {
  const move = fc.oneof(
    fc.record({ spawn: fc.array(deed, { minLength: 1, maxLength: 3 }) }),
    fc.record({ get: fc.nat(5) }),
    fc.record({ stop: fc.nat(5) }),
    fc.constant({ wait: true as const }),
    fc.constant({ early: true as const }),
  )
  const plan = fc.record({
    moves: fc.array(move, { maxLength: 6 }),
    named: fc.array(fc.nat(5), { maxLength: 4 }),
    places: fc.integer({ min: 1, max: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(plan, async ({ moves, named, places }) => {
      const answer = `The answer, by ${named.map((n) => `worker_${n + 1}`).join(' and ')}.`
      let spawned = 0
      const scripts: Record<string, Script> = {}
      const model = moves.map((one): ModelScript => {
        if ('early' in one) return [{ say: 'Too early.' }]
        if ('wait' in one) return [call('w', 'await_workers', { timeout: 30 })]
        if ('get' in one) return [call('g', 'get_worker_result', { worker_id: `worker_${one.get + 1}` })]
        if ('stop' in one) return [call('s', 'stop_worker', { worker_id: `worker_${one.stop + 1}` })]
        const workers = one.spawn.map((deed) => {
          const name = `w${++spawned}`
          scripts[name] = deeds[deed]!
          return wish(name)
        })
        return [call('b', 'spawn_workers_batch', { workers })]
      })
      const rig = coordinator(context, [...model, [{ say: answer }]], scripts, {
        places: { perWorkspace: places, total: 20 },
        limits: { minutes: 5 },
      })
      const { over, events } = rig.run()
      await rig.clock.turn(6 * 60_000)
      const outcome = await over
      assert.ok(outcome.ok, JSON.stringify(outcome))
      const all = await rig.board.all()
      const given = outcome.text.startsWith('Too early.') ? 'Too early.' : answer
      assertAccounted(given, outcome.text.slice(given.length), all.length)
      assert.deepEqual(
        [all.filter(({ over, heard }) => !over || !heard), rig.agents.filter(({ running }) => running)],
        [[], []],
      )
      // Each request told of each worker in one state alone.
      for (const { aside } of rig.model.requests) {
        const counts = /: (\d+) running.* (\d+) handoffs not read.* (\d+) read\./.exec(aside ?? '')
        if (counts) assert.ok(Number(counts[1]) + Number(counts[2]) + Number(counts[3]) <= all.length, aside)
      }
      const ends = events.flatMap((event) => (event.type === 'inner' && event.event.type === 'end' ? [event.role] : []))
      assert.deepEqual([ends.length, new Set(ends).size], [all.length, all.length])
      await rig.keeper.leave()
    }),
    { numRuns: sized(12, 200) },
  )
})

test('whenever the process dies, the next turn accounts for every worker once', async (context) => {
  const worker = fc.record({ deed, stop: fc.boolean(), read: fc.boolean(), told: fc.boolean(), named: fc.boolean() })
  const plan = fc.record({
    workers: fc.array(worker, { minLength: 1, maxLength: 5 }),
    dies: fc.constantFrom(0, 1_000, 30_000),
    places: fc.integer({ min: 1, max: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(plan, async ({ workers, dies, places }) => {
      const store = memoryStore()
      let died = false
      const alive = (owner: string) => owner !== 'first' || !died
      const scripts = Object.fromEntries(workers.map(({ deed }, n) => [`w${n}`, deeds[deed]!]))
      const limits = { perWorkspace: places, total: 20 }
      const first = boardOf(context, scripts, { store, alive, limits, owner: 'first', turn: 'turn 1' })
      await first.board.spawn(workers.map((_, n) => wish(`w${n}`)))
      if (dies > 0) await first.clock.turn(dies)
      for (const [n, { stop, read }] of workers.entries()) {
        if (stop && dies > 0) await first.board.stop(`worker_${n + 1}`)
        if (read) await first.board.gather([`worker_${n + 1}`], 0, never)
      }
      died = true
      const second = boardOf(context, {}, { store, alive, owner: 'second', turn: 'turn 2', clock: first.clock })
      await endLostWorkers(second.parts, second.ledger)
      // A handoff that was read counts only if the conversation has it.
      const read = (id: number) => workers[id - 1]!.read && workers[id - 1]!.told
      await adoptWorkers(second.ledger, { turn: 'turn 2', owner: 'second', alive, read })
      const { board } = second
      assert.match((await digestOf(board, 0))!, /^The state of your workers now: 0 running/)
      const named = workers.flatMap(({ named }, n) => (named ? [`worker_${n + 1}`] : []))
      const answer = `The answer, by ${named.join(' and ')}.`
      const added = (await new FinalAnswer(board).completion(answer, never)) ?? ''
      assertAccounted(answer, added, workers.length)
      const all = await board.all()
      assert.deepEqual(
        all.map(({ id, over, heard }) => [id, over, heard]),
        workers.map((_, n) => [`worker_${n + 1}`, true, true]),
      )
      await Promise.all([first.keeper.leave(), second.keeper.leave()])
    }),
    { numRuns: sized(12, 200) },
  )
})
