import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { App } from '../../src/turn/app.ts'
import type { TakeResult } from '../../src/safety/snapshots/snapshots.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { runTurn } from '../../src/app/turn.ts'
import { openTurnSnapshots } from '../../src/turn/turn-snapshots.ts'
import { clockTime } from '../../src/base/time/local-time.ts'
import { HandClock } from '../hand-clock.ts'
import { until } from '../until.ts'
import { modelServer } from '../real/model-server.ts'
import { seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A large project whose first copy is done when the test says so. */
function largeProject() {
  const clock = new HandClock(1_000_000)
  const copying = Promise.withResolvers<TakeResult>()
  const kept: unknown[] = []
  let takes = 0
  const snapshots = {
    copied: false,
    large: async () => true,
    take: () => (takes++ === 0 ? copying.promise : Promise.resolve({ tree: 'after' })),
    keep: async (turn: string, trees: object) => void kept.push({ turn, ...trees }),
  }
  const app = { ephemeral: false, snapshots, io: { clock } } as unknown as App
  return { app, clock, copying, kept }
}

test('a turn in a large project goes on before the first copy is ready, and says from when undo works', async (t) => {
  const { app, clock, copying, kept } = largeProject()
  const around = openTurnSnapshots(app, 'do it')
  const waits: string[] = []
  const say = (words: string) => void waits.push(words)
  const beginning = around.begin('t1', say)
  await until(() => clock.asleep > 0)
  golden(t, waits)
  await clock.turn(1_500)
  golden(t, [await beginning, around.tree, kept])
  copying.resolve({ tree: 'middle' })
  await until(() => kept.length > 0)
  const from = clock.now()
  await clock.turn(60_000)
  assert.deepEqual(await around.end('t1', say), [`Undo works for what changed after ${clockTime(from)}.`])
  golden(t, waits.slice(1))
  const record = { turn: 't1', at: 1_000_000, prompt: 'do it', before: 'middle', from }
  assert.deepEqual(kept, [record, { ...record, after: 'after' }])
})

test('a turn that ends before the first copy is ready, or finds no room for it, says that it cannot be undone', async (t) => {
  const slow = largeProject()
  const around = openTurnSnapshots(slow.app, 'do it')
  const beginning = around.begin('t1')
  await until(() => slow.clock.asleep > 0)
  await slow.clock.turn(1_500)
  await beginning
  golden(t, await around.end('t1'))
  const full = largeProject()
  full.copying.resolve({ off: 'the disk is full', passing: true })
  const other = openTurnSnapshots(full.app, 'do it')
  golden(t, [await other.begin('t1'), await other.end('t1')])
})

test('a turn in which our own agent ran nothing ends with the files with which it began, and does not look at them again', async (t) => {
  const server = await modelServer(() => ({ text: 'hello' }))
  t.after(() => server.close())
  const model = 'anthropic/claude-sonnet-4-5'
  const at = { model, baseURL: `${server.url}/v1`, contextWindowTokens: 200_000 }
  const native = { name: 'native', kind: 'native', leash: 'all', ...at }
  const seat = await seated(t, { agents: [native] }, { ANTHROPIC_API_KEY: 'made-up' }, realClock)
  const { snapshots } = seat.app
  const take = snapshots.take.bind(snapshots)
  let takes = 0
  snapshots.take = () => {
    takes++
    return take()
  }
  const turn = async (attended: boolean) => {
    for await (const _ of runTurn(seat.app, { prompt: 'hello', signal: seat.stop.signal, attended }));
    const { before, after } = (await snapshots.list()).at(-1)!
    return { takes, isSame: before === after }
  }
  assert.deepEqual(
    [await turn(false), await turn(true)],
    [
      { takes: 1, isSame: true },
      { takes: 3, isSame: true },
    ],
  )
})

test('our own agent asks its model while the project is copied, and no tool runs before the copy is there', async (t) => {
  const server = await modelServer(({ count }) =>
    count === 1
      ? { call: { tool: 'file_creator', input: { file_path: 'new.txt', content: 'new\n' } } }
      : { text: 'done' },
  )
  t.after(() => server.close())
  const model = 'anthropic/claude-sonnet-4-5'
  const at = { model, baseURL: `${server.url}/v1`, contextWindowTokens: 200_000 }
  const native = { name: 'native', kind: 'native', leash: 'all', ...at }
  const seat = await seated(t, { agents: [native] }, { ANTHROPIC_API_KEY: 'made-up' }, realClock)
  const { snapshots } = seat.app
  const take = snapshots.take.bind(snapshots)
  const copying = Promise.withResolvers<void>()
  snapshots.take = async () => {
    await copying.promise
    return take()
  }
  const path = join(seat.project, 'new.txt')
  const seen: string[] = []
  const look = (what: string) => seen.push(`${what}: the file is ${existsSync(path) ? '' : 'not '}there`)
  /** Leaves the tool much time to run too early. */
  const copyLate = async () => {
    for (let round = 0; round < 500; round++) await new Promise((resolve) => setImmediate(resolve))
    look('copied')
    copying.resolve()
  }
  let copied: Promise<void> | undefined
  for await (const event of runTurn(seat.app, { prompt: 'make it', signal: seat.stop.signal })) {
    if (event.type === 'call') copied = copyLate()
    if (event.type === 'result') look(`result ${event.ok}`)
  }
  await copied
  assert.deepEqual(seen, ['copied: the file is not there', 'result true: the file is there'])
  const last = (await snapshots.list()).at(-1)
  assert.deepEqual(last && (await snapshots.changed(last.before, last.after)), ['new.txt'])
})
