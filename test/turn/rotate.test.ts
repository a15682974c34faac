import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { FailureKind } from '../../src/core/talk/outcome.ts'
import type { Doc } from '../../src/core/talk/store.ts'
import type { Health } from '../../src/turn/rotation/health.ts'
import { localTimeFrom } from '../../src/base/time/local-time.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { rotate } from '../../src/turn/rotation/rotate.ts'
import { answeredTurn, entryMaker } from '../core/made.ts'
import { rig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const fail = (kind: FailureKind, message: string = kind, retryAt?: number) => [
  { fail: retryAt === undefined ? { kind, message } : { kind, message, retryAt } },
]
const attempt = (by: string, kind: FailureKind, message: string = kind) => ({
  type: 'attempt',
  by,
  failure: { kind, message },
  ms: 0,
})
const reply = (by: string, text: string) => ({ type: 'reply', by, text })
const ok = (text: string) => ({ ok: true, text })

test('the next turn starts after the agent that answered; exhaustion stays there', async () => {
  const members = { a: [[{ say: 'A' }]], b: [[{ say: 'B' }]], c: [[{ say: 'C' }]] }
  const robin = rig(members)
  for (let i = 0; i < 4; i++) await robin.turn()
  assert.deepEqual(robin.names(), ['a', 'b', 'c', 'a'])
  const stay = rig({ ...members, a: [fail('crash')] }, { strategy: 'exhaustion' })
  for (let i = 0; i < 3; i++) await stay.turn()
  assert.deepEqual(stay.names(), ['a', 'b', 'b', 'b'])
})

test('an agent that the person asked for answers once, and the position stays; so it does for a consultation', async () => {
  const { turn, names, health } = rig({ a: [[{ say: 'A' }]], b: [[{ say: 'B' }]], c: [[{ say: 'C' }]] })
  await turn()
  await turn({}, { first: 'c' })
  await turn({}, { consulted: true })
  assert.deepEqual(await health.read(), { position: 'a', agents: {} })
  await turn()
  assert.deepEqual(names(), ['a', 'c', 'b', 'b'])
})

test('every kind that rotates hands over, in one turn, each agent once', async () => {
  const kinds: FailureKind[] = ['quota', 'busy', 'auth', 'missing', 'timeout', 'crash', 'overflow']
  const members = Object.fromEntries(kinds.map((kind) => [kind, [fail(kind)]]))
  const { turn, asked, health } = rig({ ...members, good: [[{ say: 'done' }]] })
  const { facts, result } = await turn()
  assert.deepEqual(result, ok('done'))
  assert.deepEqual(facts, [...kinds.map((kind) => attempt(kind, kind)), reply('good', 'done')])
  assert.deepEqual(
    asked.at(-1)!.turns[0]!.attempts,
    kinds.map((kind) => attempt(kind, kind)),
  )
  assert.ok(asked.every(({ closed }) => closed))
  assert.deepEqual(await health.read(), {
    position: 'good',
    agents: {
      quota: { failures: 0, parked: { until: 3_600_000, seconds: 3_600, why: 'quota' } },
      busy: { failures: 0, busy: { until: 60_000, seconds: 60, why: 'busy' } },
      timeout: { failures: 1 },
      crash: { failures: 1 },
    },
  })
})

test('a denied, unfinished or cancelled turn ends, and changes no health', async () => {
  for (const kind of ['denied', 'unfinished', 'aborted'] as const) {
    const { turn, names, health } = rig({ a: [fail(kind)], b: [[{ say: 'B' }]] })
    assert.deepEqual(await turn(), { facts: [], result: failed(kind, kind) })
    assert.deepEqual(names(), ['a'])
    assert.deepEqual(await health.read(), { agents: {} })
  }
})

test('a refusal is an answer', async () => {
  const outcome = { ok: true as const, text: 'I would rather not', refused: true as const }
  const { turn, health } = rig({ a: [[{ type: 'end', outcome }]], b: [[{ say: 'B' }]] })
  assert.deepEqual(await turn(), { facts: [], result: outcome })
  assert.deepEqual(await health.read(), { position: 'a', agents: {} })
})

test('a failure while the turn is being cancelled changes no health', async () => {
  const abort = new AbortController()
  const { turn, names, health } = rig({
    dies: () => ({
      name: 'dies',
      traits: { window: 1, memory: 'none', talks: true, steers: false },
      async *turn() {
        abort.abort()
        yield { type: 'end', outcome: failed('crash', 'killed') }
      },
      async close() {},
    }),
    b: [[{ say: 'B' }]],
  })
  assert.deepEqual(await turn({ signal: abort.signal }), { facts: [], result: failed('aborted', 'cancelled') })
  assert.deepEqual([names(), await health.read()], [[], { agents: {} }])
})

test('an agent is parked until it returns, and then asked again', async () => {
  const { turn, clock, names } = rig(
    { a: [fail('quota', 'limit', 5_000), [{ say: 'A' }]], b: [[{ say: 'B' }]] },
    { strategy: 'exhaustion', first: undefined },
  )
  await turn()
  const parked = await turn({}, { first: 'a' })
  assert.deepEqual(parked.facts, [
    {
      type: 'note',
      by: 'termaite',
      text: `Skipped a: out of quota until ${localTimeFrom(0, 5_000)}`,
    },
    reply('b', 'B'),
  ])
  await clock.turn(5_000)
  assert.deepEqual((await turn({}, { first: 'a' })).facts, [reply('a', 'A')])
  assert.deepEqual(names(), ['a', 'b', 'b', 'a'])
})

test('three counting failures in a row cool an agent down; an agent that the person asks for is asked all the same', async () => {
  const { turn, clock, names } = rig({ a: [fail('crash')], b: [[{ say: 'B' }]] })
  for (let i = 0; i < 4; i++) await turn()
  assert.deepEqual(names(), ['a', 'b', 'a', 'b', 'a', 'b', 'b'])
  await turn({}, { first: 'a' })
  assert.deepEqual(names().slice(7), ['a', 'b'])
  await clock.turn(60_000)
  await turn()
  assert.deepEqual(names().slice(9), ['a', 'b'], 'after the cool-down it is asked again')
  await clock.turn(60_000)
  await turn()
  assert.deepEqual(names().slice(11), ['b'], 'and that failure doubled it')
})

test('an agent that is not installed or not logged in is out for this process', async () => {
  const { turn, names } = rig({ a: [fail('auth', 'run: a login')], b: [[{ say: 'B' }]] })
  const { facts } = await turn()
  assert.deepEqual(facts[0], attempt('a', 'auth', 'run: a login'))
  await turn()
  assert.deepEqual(names(), ['a', 'b', 'b'])
})

test('too long: compacted while that helps, the same agent again on a thread of its own, then the next', async () => {
  const make = entryMaker()
  const thread = make('1', 'a', { type: 'thread', key: 'k' })
  const other = make('1', 'b', { type: 'thread', key: 'k2' })
  const turns = answeredTurn(make, '1', 'q', 'a', 'x'.repeat(400))
  const summary = make('', 'termaite', { type: 'summary', text: 'short', through: 'x' })
  let compactions = 0
  const compact = async () => (compactions++, [summary, thread, other])
  const { turn, asked, names } = rig({
    a: [fail('overflow')],
    b: [fail('overflow'), [{ say: 'B' }]],
    c: [[{ say: 'C' }]],
  })
  const { facts } = await turn({ history: [...turns, thread] }, { compact })
  assert.deepEqual(facts, [
    attempt('a', 'overflow'),
    attempt('a', 'overflow'),
    attempt('b', 'overflow'),
    reply('c', 'C'),
  ])
  assert.deepEqual([names(), compactions], [['a', 'a', 'b', 'c'], 2])
  assert.deepEqual(asked[1]!.turns[0]!.history, [summary, other])
})

test('a conversation that is too long for an unknown window is compacted until it fits, at most four times', async () => {
  const make = entryMaker()
  const long = (size: number) => make('', 'termaite', { type: 'summary', text: 'x'.repeat(size), through: 'x' })
  let size = 64_000
  const compact = async () => [long((size /= 2))]
  const history = () => ((size = 64_000), [long(size)])
  const fits = rig({ a: [fail('overflow'), fail('overflow'), fail('overflow'), [{ say: 'A' }]], b: [[{ say: 'B' }]] })
  await fits.turn({ history: history() }, { compact })
  assert.deepEqual([fits.names(), size], [['a', 'a', 'a', 'a'], 8_000])
  const never = rig({ a: [fail('overflow')], b: [[{ say: 'B' }]] })
  await never.turn({ history: history() }, { compact })
  assert.deepEqual([never.names(), size], [['a', 'a', 'a', 'a', 'a', 'b'], 4_000])
})

test('too long and nothing to compact: a long thread alone is left behind, else the next agent', async () => {
  const thread = entryMaker()('1', 'a', { type: 'thread', key: 'k' })
  const broken = async () => Promise.reject(new Error('no summary'))
  const { turn, names } = rig({ a: [fail('overflow')], b: [[{ say: 'B' }]] })
  await turn({ history: [thread] }, { compact: broken })
  await turn({}, { compact: broken, first: 'a' })
  assert.deepEqual(names(), ['a', 'a', 'b', 'a', 'b'])
})

test('an agent that cannot be opened or breaks is a failed attempt', async () => {
  const { turn } = rig({
    closed: () => {
      throw new Error('no such seat')
    },
    wild: () => ({
      name: 'wild',
      traits: { window: 1, memory: 'none', talks: true, steers: false },
      turn() {
        throw new Error('boom')
      },
      close: () => Promise.reject(new Error('stuck')),
    }),
    good: [[{ say: 'fine' }]],
  })
  assert.deepEqual((await turn()).facts, [
    attempt('closed', 'crash', 'closed could not be opened: no such seat'),
    attempt('wild', 'crash', 'wild failed unexpectedly: boom'),
    reply('good', 'fine'),
  ])
})

test('the work of a failed attempt is handed over, masked, with the files that really changed', async () => {
  const { turn, asked } = rig({
    a: [[{ type: 'text', delta: 'key is s3cret' }, ...fail('crash', 'died with s3cret')]],
    b: [[{ say: 'B' }]],
  })
  const mask = (text: string) => text.replaceAll('s3cret', '***')
  const changes = async () => ['src/a.ts']
  const { facts } = await turn({}, { mask, changes })
  const did = { calls: [], files: ['src/a.ts'], lastWords: 'key is ***' }
  const handed = { ...attempt('a', 'crash', 'died with ***'), did }
  assert.deepEqual(facts, [handed, reply('b', 'B')])
  assert.deepEqual(asked[1]!.turns[0]!.attempts, [handed])
  const blind = await turn({}, { changes: () => Promise.reject(new Error('no git')) })
  assert.deepEqual(blind.facts[0], {
    ...attempt('a', 'crash', 'died with s3cret'),
    did: { ...did, files: [], lastWords: 'key is s3cret' },
  })
})

test('a health that cannot be read or written is noted, and the turn goes on', async (t) => {
  const broken: Doc<Health> = {
    read: () => Promise.reject(new Error('health.json does not parse')),
    update: () => Promise.reject(new Error('health.json does not parse')),
  }
  const { turn } = rig({ a: [fail('crash')], b: [[{ say: 'B' }]] }, { health: broken })
  const { facts, result } = await turn()
  golden(t, facts)
  assert.deepEqual(result, ok('B'))
})

test('a healthy turn that leaves the position where it is writes nothing', async () => {
  const inner = rig({}).health
  let writes = 0
  const health: Doc<Health> = { read: () => inner.read(), update: (change) => (writes++, inner.update(change)) }
  const { turn } = rig({ a: [[{ say: 'A' }]] }, { health, strategy: 'exhaustion' })
  for (let i = 0; i < 3; i++) await turn()
  assert.equal(writes, 1)
})

test('the traits of a rotation hold for every agent that may answer', () => {
  const { roster } = rig(
    { a: [[]], b: [[]] },
    {},
    { a: { window: 10, vendor: 'x', steers: true }, b: { talks: false } },
  )
  assert.deepEqual(rotate(roster, {} as Parameters<typeof rotate>[1]).traits, {
    window: 10,
    memory: 'none',
    talks: false,
    steers: false,
  })
})
