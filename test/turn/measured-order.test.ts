import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { Evidence } from '../../src/turn/rotation/measured-order.ts'
import { nextAgent } from '../../src/turn/rotation/agent-order.ts'
import { measuredOrder } from '../../src/turn/rotation/measured-order.ts'
import { sized } from '../full.ts'
import { rig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const names = ['a', 'b', 'c']
const day = 86_400_000
const now = 100 * day

const evidence = fc.record(
  {
    agent: fc.constantFrom('a', 'b', 'c', 'gone'),
    here: fc.boolean(),
    kind: fc.option(fc.constantFrom('direct', 'sequential'), {
      nil: undefined,
    }),
    good: fc.option(fc.boolean(), { nil: undefined }),
    cost: fc.option(fc.oneof(fc.constant(0), fc.constant(Number.NaN), fc.double({ min: 0, max: 100, noNaN: true })), {
      nil: undefined,
    }),
    ms: fc.option(fc.integer({ min: 0, max: 10 ** 9 }), { nil: undefined }),
    at: fc.integer({ min: 0, max: 2 * now }),
  },
  { requiredKeys: ['agent', 'here', 'at'] },
) as fc.Arbitrary<Evidence>
const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const runs = { numRuns: sized(200, 5_000) }

/** `many` results of an agent here, the newest first; `good` of them are good. */
const results = (agent: string, good: number, many: number, over: Partial<Evidence> = {}): Evidence[] =>
  Array.from({ length: many }, (_, i) => ({
    agent,
    here: true,
    good: i < good,
    at: now - i * 60_000,
    ...over,
  }))

/** Whether one agent is first five times as often as another. */
const often = (known: readonly Evidence[], one: string, other: string, kind?: string) => {
  const counts = firsts(known, kind)
  return counts[one]! > 100 && counts[one]! > 5 * counts[other]!
}

/** How often each agent is first in a thousand draws. */
function firsts(known: readonly Evidence[], kind?: string): Record<string, number> {
  const counts: Record<string, number> = { a: 0, b: 0, c: 0 }
  for (let one = 0; one < 1_000; one++) counts[measuredOrder(names, known, { seed: one, at: now }, kind).line[0]!]!++
  return counts
}

test('a draw orders every agent once, and gives the same order again, whatever is known', () => {
  fc.assert(
    fc.property(
      fc.array(evidence, { maxLength: 60 }),
      seed,
      fc.constantFrom(undefined, 'direct'),
      (known, one, kind) => {
        const { line, why } = measuredOrder(names, known, { seed: one, at: now }, kind)
        assert.deepEqual([...line].sort(), names)
        assert.deepEqual(measuredOrder(names, known, { seed: one, at: now }, kind).line, line)
        const words = why(line[0]!)
        assert.ok(words === undefined || /^\S+ goes first( as a trial)?: .+\.$/.test(words))
      },
    ),
    runs,
  )
})

test('without evidence about these agents the configured order stays, and nothing is said', () => {
  fc.assert(
    fc.property(fc.array(evidence.map((one) => ({ ...one, agent: 'gone' }))), seed, (known, one) => {
      const { line, why } = measuredOrder(names, known, {
        seed: one,
        at: now,
      })
      assert.deepEqual([line, why('a')], [names, undefined])
    }),
    runs,
  )
})

test('an agent that is parked, cooling down or out is never the next one', () => {
  fc.assert(
    fc.property(fc.array(evidence), seed, fc.subarray(names), fc.subarray(names), (known, one, parked, out) => {
      const agents = Object.fromEntries(
        parked.map((name) => [name, { failures: 0, parked: { until: now + 1, why: '' } }]),
      )
      const { line } = measuredOrder(names, known, { seed: one, at: now })
      const next = nextAgent(names, 'measured', { agents }, now, undefined, new Set(out), line)
      const free = line.filter((name) => !parked.includes(name) && !out.includes(name))
      assert.equal(next, free[0])
    }),
    runs,
  )
})

test('the agent that does better goes first ever more often, and the others are still tried now and then', () => {
  const close = firsts([...results('a', 12, 20), ...results('b', 14, 20), ...results('c', 8, 20)])
  assert.ok(close.b! > close.a! && close.a! > close.c!, JSON.stringify(close))
  assert.ok(close.a! > 50, JSON.stringify(close))
  const sure = firsts([...results('a', 5, 40), ...results('b', 38, 40), ...results('c', 5, 40)])
  assert.equal(sure.b, 1_000)
})

test('among equals in success the cheaper and the quicker one goes first; free is cheapest, and unknown is as usual', () => {
  const alike = (cost: Record<string, number | undefined>, ms: Record<string, number>) =>
    firsts(names.flatMap((name) => results(name, 30, 40, { cost: cost[name], ms: ms[name] })))
  const ms = { a: 60_000, b: 60_000, c: 60_000 }
  const priced = alike({ a: 5, b: 0, c: 2 }, ms)
  assert.ok(priced.b! > 900 && priced.a! < 10, JSON.stringify(priced))
  const unknown = alike({ a: 0.8, b: undefined, c: 0 }, ms)
  assert.ok(unknown.c! > unknown.b! && unknown.b! > unknown.a!, JSON.stringify(unknown))
  const slow = alike({}, { a: 1_800_000, b: 60_000, c: 1_800_000 })
  assert.ok(slow.b! > 900, JSON.stringify(slow))
})

test('recent evidence of this kind of request and of this project counts more than the rest', () => {
  const kinds = [
    ...results('a', 9, 10, { kind: 'sequential' }),
    ...results('b', 2, 10, { kind: 'sequential' }),
    ...results('b', 29, 30, { kind: 'direct' }),
    ...results('a', 10, 30, { kind: 'direct' }),
  ]
  assert.ok(often(kinds, 'a', 'b', 'sequential') && often(kinds, 'b', 'a', 'direct'))

  const places = [...results('a', 9, 10), ...results('b', 3, 10), ...results('b', 100, 100, { here: false })]
  assert.ok(often(places, 'a', 'b'))
  const onlyElsewhere = [...results('b', 20, 20, { here: false }), ...results('a', 4, 20, { here: false })]
  assert.ok(often(onlyElsewhere, 'b', 'a'))

  const drifted = [...results('a', 1, 10), ...results('b', 8, 10), ...results('a', 40, 40, { at: now - 90 * day })]
  assert.ok(often(drifted, 'b', 'a'))
})

test('the reason names what is known, and says when an agent is only tried', (t) => {
  const said = (known: readonly Evidence[], agent: string, kind?: string) =>
    measuredOrder(names, known, { seed: 1, at: now }, kind).why(agent)
  const known = [
    ...results('a', 7, 9, { kind: 'sequential' }),
    ...results('a', 1, 1),
    ...results('b', 0, 1),
    ...results('c', 3, 4, { here: false }),
  ]
  assert.deepEqual(
    [said(known, 'a', 'sequential'), said(known, 'a'), said(known, 'b'), said(known, 'c')],
    [
      'a goes first: 7 of its 9 judged answers to such requests were good.',
      'a goes first: 8 of its 10 judged answers in this project were good.',
      'b goes first as a trial: its one judged answer in this project was bad.',
      'c goes first as a trial: 3 of its 4 judged answers in other projects were good.',
    ],
  )
  const poor = [...results('a', 1, 4), ...results('b', 0, 9), ...results('c', 0, 9)]
  golden(t, said(poor, 'a'))
  const unjudged = [1, 2, 3].map((at): Evidence => ({
    agent: 'a',
    here: true,
    at: now - at,
  }))
  golden(t, [said(unjudged, 'a'), said(unjudged, 'b')])
})

test('the rotation asks in the drawn order and says why; health, the person and earlier pieces decide first', async () => {
  const measured = async () => measuredOrder(names, results('c', 39, 40), { seed: 3, at: now })
  const say = (text: string) => [[{ say: text }]]
  const members = { a: say('A'), b: say('B'), c: say('C') }
  const why = {
    type: 'note',
    text: 'c goes first: 39 of its 40 judged answers in this project were good.',
    by: 'termaite',
  }
  const { turn, names: asked, health } = rig(members, { strategy: 'measured', measured })
  const { line } = await measured()
  assert.equal(line[0], 'c')
  assert.deepEqual((await turn()).facts[0], why)
  assert.deepEqual(
    (await turn({}, { first: 'a' })).facts.filter(({ type }) => type === 'note'),
    [],
  )
  await health.update((before) => ({
    ...before,
    agents: { c: { failures: 0, parked: { until: 1e12, why: 'limit' } } },
  }))
  const notes = (await turn()).facts.flatMap((fact) => (fact.type === 'note' ? [fact.text] : []))
  assert.match(notes[0]!, new RegExp(`^${line[1]} goes first`))
  assert.deepEqual(asked(), ['c', 'a', line[1]])
  await turn({}, { measured: async () => Promise.reject(new Error('no index')) })
  assert.deepEqual(asked().at(-1), 'a')
})
