import { test } from 'node:test'
import { localTimeFrom } from '../../src/base/time/local-time.ts'
import { awayWords } from '../../src/turn/rotation/no-answer.ts'
import assert from 'node:assert/strict'
import type { FailureKind } from '../../src/core/talk/outcome.ts'
import type { Health } from '../../src/turn/rotation/health.ts'
import type { Script } from '../agents/scripted-agent.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { rig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const minute = 60_000
const at = (ms: number) => localTimeFrom(0, ms)
const fail = (kind: FailureKind, message: string, retryAt?: number) => [{ fail: { kind, message, retryAt } }]

test('the failure without a configured agent, and with an unknown name', async (t) => {
  golden(t, (await rig({}).turn()).result)
  assert.deepEqual(
    (await rig({ a: [[{ say: 'A' }]] }).turn({}, { first: 'z' })).result,
    failed('missing', 'there is no agent z; your agents are a'),
  )
})

test('all only out of quota or busy: the end says who is back first, at once and when nothing was tried', async (t) => {
  const { turn, names } = rig({ a: [fail('quota', 'limit', 30 * minute)], b: [fail('busy', 'overloaded', 5 * minute)] })
  const back = '`termaite doctor` checks again now; b is the first one back'
  golden(t, (await turn()).result)
  assert.deepEqual((await turn()).result, {
    ok: false,
    failure: {
      kind: 'busy',
      message: `no agent is free: a is out of quota until ${at(30 * minute)}; b is busy; ${back}`,
      retryAt: 5 * minute,
    },
  })
  assert.deepEqual(names(), ['a', 'b'])
})

test('the first one back may be cooling down, or parked', async () => {
  const { turn, health } = rig({ a: [[]], b: [[]], c: [[]] })
  await health.update(() => ({
    agents: {
      a: { failures: 0, parked: { until: minute, why: 'limit' } },
      b: { failures: 3, cooldown: { until: 2 * minute, seconds: 120 } },
      c: { failures: 3, cooldown: { until: 2 * minute, seconds: 120 } },
    },
  }))
  const { result } = await turn()
  assert.deepEqual(result, {
    ok: false,
    failure: {
      kind: 'quota',
      message: `no agent is free: a is out of quota; b is cooling down until ${at(2 * minute)}; c is cooling down until ${at(2 * minute)}; \`termaite doctor\` checks again now; a is the first one back`,
      retryAt: minute,
    },
  })
})

test('the only agent that could answer is asked, whatever its failures, unless its provider named a time', async () => {
  const cooling = { failures: 3, cooldown: { until: 2 * minute, seconds: 120 } }
  const busy = { failures: 0, busy: { until: minute, seconds: 60, why: 'overloaded' } }
  const parked = { failures: 0, parked: { until: minute, why: 'limit' } }
  const cases: Health['agents'][] = [{ b: cooling }, { b: busy }, { a: parked, b: cooling }, { a: parked, b: busy }]
  for (const agents of cases) {
    const { turn, health, names } = rig('a' in agents ? { a: [[]], b: [[{ say: 'B' }]] } : { b: [[{ say: 'B' }]] })
    await health.update(() => ({ agents }))
    assert.deepEqual((await turn()).result, { ok: true, text: 'B' })
    assert.deepEqual(names(), ['b'])
  }
  const { turn, health, names } = rig({ b: [[{ say: 'B' }]] })
  await health.update(() => ({ agents: { b: { failures: 0, busy: { until: minute, why: 'overloaded' } } } }))
  const { result } = await turn()
  assert.deepEqual(!result.ok && [result.failure.kind, result.failure.retryAt, names()], ['busy', minute, []])
})

test('three crashes in a row do not bar the only agent from the fourth turn', async () => {
  const { turn, names } = rig({ a: [fail('crash', '1'), fail('crash', '2'), fail('crash', '3'), [{ say: 'A' }]] })
  for (let i = 0; i < 3; i++) assert.equal((await turn()).result.ok, false)
  assert.deepEqual((await turn()).result, { ok: true, text: 'A' })
  assert.deepEqual(names(), ['a', 'a', 'a', 'a'])
})

test('an agent is told whether another one could take the turn over', async () => {
  const told: [string, boolean | undefined][] = []
  const sees =
    (name: string): Script =>
    ({ othersFree }) => {
      told.push([name, othersFree?.()])
      return fail('busy', 'overloaded')
    }
  const { turn, health } = rig({ a: [sees('a')], b: [sees('b')], c: [sees('c')] })
  await health.update(() => ({ agents: { c: { failures: 0, parked: { until: minute, why: 'limit' } } } }))
  await turn()
  assert.deepEqual(told, [
    ['a', true],
    ['b', false],
  ])
  await rig({ a: [sees('alone')], b: [sees('b')] }).turn({}, { first: 'a', only: true })
  assert.deepEqual(told.at(-1), ['alone', false])
})

test('a real fault among them names the kind, and every attempt is named', async () => {
  const { turn } = rig({ a: [fail('timeout', 'silent for 300 s')], b: [fail('quota', 'limit')] })
  assert.deepEqual(
    (await turn()).result,
    failed('timeout', 'no agent could answer: a took too long: silent for 300 s; b is out of quota: limit'),
  )
})

test('when all agents are out for this process, the end says what each one lacks', async () => {
  const { turn } = rig({ a: [fail('missing', 'install it with: npm i -g a')], b: [fail('auth', 'run: b login')] })
  const message = 'a cannot be started: install it with: npm i -g a; b is not logged in: run: b login'
  assert.deepEqual((await turn()).result, failed('auth', `no agent could answer: ${message}`))
  assert.deepEqual((await turn()).result, failed('auth', `no agent can answer: ${message}`))
})

test('an agent that was away and is back by the end of the turn is described so', () => {
  assert.equal(awayWords({ as: 'busy', until: 60_000 }, 300_000), 'was busy, and is free again')
  assert.equal(awayWords({ as: 'parked', until: 3 * 3_600_000 }, 0), `out of quota until ${at(3 * 3_600_000)}`)
})
