import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import type { Script } from '../../agents/scripted-agent.ts'
import { settled } from '../../hand-clock.ts'
import { nobody } from '../../../src/core/talk/question.ts'
import { digestOf } from '../../../src/crew/workers/digest.ts'
import { FinalAnswer } from '../../../src/crew/workers/final-answer.ts'
import { toldInResults, workerTools } from '../../../src/crew/workers/worker-tools.ts'
import { answers, boardOf, handoff, wish } from './board-rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const never = new AbortController().signal
const soon = (clock: { elapsed(): number }) => clock.elapsed() + 600_000

test('four workers run at once, are gathered, and each envelope says who it came from', async (context) => {
  const { board, clock, agents } = boardOf(context, { c: [{ wait: 5_000 }, ...(answers() as [])] })
  const made = await board.spawn([
    wish('a'),
    wish('b', { role: 'verifier' }),
    wish('c'),
    wish('d', { agent: 'claude' }),
  ])
  assert.deepEqual(
    made.map(({ id }) => id),
    ['worker_1', 'worker_2', 'worker_3', 'worker_4'],
  )
  const gathering = board.gather(undefined, soon(clock), never)
  await clock.turn(6_000)
  const { envelopes, open } = await gathering
  const from = (worker: string, name: string, role: string, agent = 'native') => ({
    ...{ worker, name, role, agent, model: agent === 'native' ? 'a-model' : 'its default model' },
    ...handoff,
  })
  assert.deepEqual(
    [envelopes, open],
    [
      [
        from('worker_1', 'a', 'explorer'),
        from('worker_2', 'b', 'verifier'),
        from('worker_3', 'c', 'explorer'),
        from('worker_4', 'd', 'explorer', 'claude'),
      ],
      [],
    ],
  )
  assert.deepEqual([await board.unheard(), agents.every(({ closed }) => closed)], [[], true])
})

test('workers that could change the same files are refused, and none of the batch is spawned', async (context) => {
  const { board } = boardOf(context, {})
  const refused = (names: ReturnType<typeof wish>[]) =>
    board.spawn(names).then(
      () => 'spawned',
      (error) => (error as Error).message,
    )
  const implementer = (name: string, scope?: string[]) => wish(name, { role: 'implementer', scope })
  golden(context, await refused([implementer('a', ['src/api']), implementer('b', ['src/api/server.ts'])]))
  assert.match(await refused([implementer('a'), implementer('b', ['docs'])]), /a of this call may change any file/)
  golden(context, await refused([implementer('a', ['../other'])]))
  assert.match(await refused([wish('a', { agent: 'nobody' })]), /there is no agent "nobody"/)
  assert.deepEqual(await board.all(), [])
  assert.equal(await refused([implementer('a', ['src']), implementer('b', ['docs']), wish('c')]), 'spawned')
  assert.match(await refused([implementer('d', ['docs/x.md'])]), /worker_2 \(b\) may change docs/)
})

test('one worker changes files of the project itself; every other one that may write has a copy', async (context) => {
  const { board } = boardOf(context, {})
  const made = await board.spawn([
    wish('first', { role: 'implementer', scope: ['a'] }),
    wish('second', { role: 'implementer', scope: ['b'] }),
    wish('foreign', { role: 'implementer', scope: ['c'], agent: 'claude' }),
    wish('seen', { role: 'implementer', scope: ['d'], where: 'terminal' }),
    wish('reader', { agent: 'claude', minutes: 5 }),
    wish('rival', { role: 'implementer', scope: ['a'], worktree: true }),
    wish('checks', { role: 'verifier' }),
    wish('tests', { role: 'verifier', agent: 'claude' }),
  ])
  assert.deepEqual(
    made.map(({ slot: { leash, worker } }) => [worker.name, worker.apart, worker.steps, worker.minutes, leash]),
    [
      ['first', undefined, 12, 20, 'edit'],
      ['second', {}, 12, 20, 'edit'],
      // An agent of another program, and one in a terminal, is bounded by its time.
      ['foreign', {}, undefined, 20, 'edit'],
      ['seen', {}, undefined, 20, 'edit'],
      ['reader', undefined, undefined, 5, 'read'],
      ['rival', { asked: true }, 12, 20, 'edit'],
      ['checks', undefined, 12, 20, 'read'],
      // A verifier of another program could run nothing where it only reads.
      ['tests', {}, undefined, 20, 'edit'],
    ],
  )
})

test('when no copy can be made, only one worker that is held to its scope may write', async (context) => {
  const { board } = boardOf(context, {}, { noCopies: 'this project is not a git repository' })
  const [verifier] = await board.spawn([wish('tests', { role: 'verifier', agent: 'claude' })])
  assert.deepEqual([verifier!.slot.worker.apart, verifier!.slot.leash], [undefined, 'read'])
  const refused = (...names: ReturnType<typeof wish>[]) =>
    board.spawn(names).then(
      () => 'spawned',
      (error) => (error as Error).message,
    )
  const implementer = (name: string, more: Parameters<typeof wish>[1]) => wish(name, { role: 'implementer', ...more })
  golden(context, [
    await refused(implementer('a', { agent: 'claude', scope: ['src'] })),
    await refused(implementer('a', { worktree: true })),
    await refused(implementer('a', { scope: ['src'] }), implementer('b', { scope: ['docs'] })),
    await refused(implementer('a', { scope: ['src'] }), wish('c', { agent: 'claude' })),
  ])
})

test('no more workers are spawned than a turn may send', async (context) => {
  const { board } = boardOf(context, {}, { mostWorkers: 2 })
  await board.spawn([wish('a')])
  await golden.rejects(context, board.spawn([wish('b'), wish('c')]))
})

test('a role that may not write is held to reading, and an implementer has its scope', async (context) => {
  const { board, clock, seats } = boardOf(context, {})
  await board.spawn([wish('a'), wish('b', { role: 'implementer', scope: ['src'] }), wish('c', { role: 'summarizer' })])
  await clock.turn(1_000)
  assert.deepEqual(
    seats.map(({ leash, limits }) => [leash, limits]),
    [
      ['read', { writes: false, scope: undefined }],
      ['edit', { scope: ['src'] }],
      ['read', { writes: false, runs: false, scope: undefined }],
    ],
  )
})

test('the digest counts workers, previews handoffs that were not read, and says what to do next', async (context) => {
  const risky = answers({
    unresolved_risks: ['the port is taken'],
    status: 'failed',
    exact_next_step: 'Free the port.',
  })
  const { board, clock } = boardOf(context, { a: [{ hang: true }], b: risky })
  assert.equal(await digestOf(board, clock.now()), undefined)
  await board.spawn([wish('a'), wish('b'), wish('c')])
  await clock.turn(30_000)
  await board.gather(['worker_3'], 0, never)
  golden(context, await digestOf(board, clock.now()))
})

test('an answer too early is held back twice; then the workers are waited for, and their handoffs follow it', async (context) => {
  const { board, clock } = boardOf(context, { a: [{ wait: 60_000 }, ...(answers() as [])] })
  const final = new FinalAnswer(board)
  await board.spawn([wish('a'), wish('b')])
  await clock.turn(1_000)
  golden(context, [await final.holdsBack(), await final.holdsBack(), await final.holdsBack()])
  const completing = final.completion('All is well.', never)
  await clock.turn(60_000)
  golden(context, await completing)
  assert.deepEqual(await board.unheard(), [])
})

test('a worker that the answer leaves out is added to it', async (context) => {
  const { board, clock } = boardOf(context, {})
  const final = new FinalAnswer(board)
  for (let n = 1; n <= 12; n++) await board.spawn([wish(`w${n}`)])
  await clock.turn(1_000)
  await board.gather(undefined, soon(clock), never)
  assert.equal(await final.holdsBack(), undefined)
  const named = Array.from({ length: 11 }, (_, n) => `worker_${n + 2}`).join(', ')
  golden(context, await final.completion(`By ${named}.`, never))
  assert.equal(await final.completion(`By worker_1, ${named}.`, never), undefined)
})

test('fifty workers on a crew of four places are all heard', async (context) => {
  const { board, clock } = boardOf(context, {}, { limits: { perWorkspace: 4, total: 4 } })
  await board.spawn(Array.from({ length: 50 }, (_, n) => wish(`w${n}`)))
  const gathering = board.gather(undefined, soon(clock), never)
  await clock.turn(60_000)
  assert.equal((await gathering).envelopes.length, 50)
})

test('in whatever order workers end, fail and are stopped, each is accounted for once in the final answer', async (context) => {
  const ends = ['answers', 'prose', 'dies', 'hangs', 'waits'] as const
  const script: Record<(typeof ends)[number], Script> = {
    answers: answers(),
    prose: [{ say: 'It works, I think.' }],
    dies: [{ fail: { kind: 'crash', message: 'it broke' } }],
    hangs: [{ hang: true }],
    waits: [{ wait: 20_000 }, ...(answers() as [])],
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ end: fc.constantFrom(...ends), stop: fc.boolean(), read: fc.boolean(), named: fc.boolean() }),
        {
          minLength: 1,
          maxLength: 6,
        },
      ),
      async (workers) => {
        const scripts = Object.fromEntries(workers.map(({ end }, n) => [`w${n}`, script[end]]))
        const rig = boardOf(context, scripts)
        const final = new FinalAnswer(rig.board)
        await rig.board.spawn(workers.map((_, n) => wish(`w${n}`)))
        await rig.clock.turn(1_000)
        for (const [n, { stop, read, end }] of workers.entries()) {
          // A worker that hangs would be waited for until its time is over.
          if (stop || end === 'hangs') await rig.board.stop(`worker_${n + 1}`)
          if (read) await rig.board.gather([`worker_${n + 1}`], 0, never)
        }
        const named = workers.flatMap(({ named }, n) => (named ? [`worker_${n + 1}`] : []))
        const answer = `The answer, by ${named.join(' and ')}.`
        while (await final.holdsBack()) await settled()
        const completing = final.completion(answer, never)
        await rig.clock.turn(30_000)
        const text = [answer, await completing].join('\n')
        for (const [n] of workers.entries()) {
          const lines = text.split('\n').filter((line) => new RegExp(`^(- )?worker_${n + 1} \\(`).test(line))
          const inAnswer = named.includes(`worker_${n + 1}`)
          assert.ok(lines.length <= 1 && (inAnswer || lines.length === 1), text)
        }
        assert.deepEqual(await rig.board.unheard(), [])
        assert.deepEqual(
          rig.agents.filter(({ running }) => running),
          [],
        )
        await rig.keeper.leave()
      },
    ),
    { numRuns: 25 },
  )
})

test('a lead whose loop is its own is told the state of its workers with each result, and may not wait beside a spawn', async (context) => {
  const { board, clock } = boardOf(context, { one: answers() })
  const desk = { board, clock, agents: () => [{ name: 'native' }] }
  const tools = toldInResults(workerTools(desk), () => digestOf(board, clock.now()))
  const run = async (name: string, input: object) => {
    const tool = tools.find((one) => one.name === name)!
    const until = clock.elapsed() + 1_000_000
    const context = { cwd: '/', signal: new AbortController().signal, ask: nobody, until, progress() {} }
    return tool.run(tool.parse(input), { ...context, consult: async () => assert.fail('nobody is consulted') })
  }
  const spawned = run('spawn_worker', wish('one'))
  await golden.rejects(context, run('await_workers', {}))
  golden(context, String(await spawned))
  golden(context, String(await run('await_workers', {})))
})
