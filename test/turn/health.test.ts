import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { Failure, FailureKind } from '../../src/core/talk/outcome.ts'
import type { Health } from '../../src/turn/rotation/health.ts'
import { afterFailure, afterSuccess, away, knownHealth, noHealth } from '../../src/turn/rotation/health.ts'

const limits = { failures: 3, seconds: 60, maxSeconds: 200 }
const hour = 3_600_000
const fail = (health: Health, failure: Failure, now: number) => afterFailure(health, 'claude', failure, now, limits)
const crash: Failure = { kind: 'crash', message: 'exited with 3' }
const quota: Failure = { kind: 'quota', message: 'usage limit reached' }

test('three that count in a row cool down, a failure after that doubles, up to the longest', () => {
  let health = noHealth
  const cooldowns = []
  let now = 0
  for (let i = 0; i < 6; i++) {
    health = fail(health, i % 2 ? crash : { kind: 'timeout', message: 'silent' }, now)
    cooldowns.push(health.agents.claude!.cooldown?.seconds)
    now = (health.agents.claude!.cooldown?.until ?? now) + 1
  }
  assert.deepEqual(cooldowns, [undefined, undefined, 60, 120, 200, 200])
  assert.deepEqual(afterSuccess(health, 'claude', true), { position: 'claude', agents: {} })
})

test('a failure while it cools down already does not double: two processes met the same trouble', () => {
  const two = fail(fail(noHealth, crash, 0), crash, 0)
  const three = fail(two, crash, 1_000)
  assert.deepEqual(fail(three, crash, 2_000), {
    agents: { claude: { failures: 4, cooldown: { until: 61_000, seconds: 60 } } },
  })
})

test('a quota parks until the stated time, and is no failure in a row', () => {
  const health = fail(fail(noHealth, crash, 0), { ...quota, retryAt: 5 * hour }, 1)
  assert.deepEqual(health, {
    agents: { claude: { failures: 1, parked: { until: 5 * hour, why: 'usage limit reached' } } },
  })
})

test('a quota without a time parks one hour, then doubling to a day', () => {
  let health = noHealth
  let now = 0
  const seconds = []
  for (let i = 0; i < 7; i++) {
    health = fail(health, quota, now)
    seconds.push(health.agents.claude!.parked!.seconds! / 3_600)
    assert.deepEqual(fail(health, quota, now + 1), health, 'the same limit met twice is one limit')
    now = health.agents.claude!.parked!.until
  }
  assert.deepEqual(seconds, [1, 2, 4, 8, 16, 24, 24])
})

test('a stated time that is over counts as none', () => {
  assert.deepEqual(fail(noHealth, { ...quota, retryAt: 10 }, 10), {
    agents: { claude: { failures: 0, parked: { until: 10 + hour, seconds: 3_600, why: 'usage limit reached' } } },
  })
})

test('a busy agent is left alone for the named time, else for a minute', () => {
  const busy: Failure = { kind: 'busy', message: '529 overloaded' }
  const until = (failure: Failure) => fail(noHealth, failure, 1_000).agents.claude
  assert.deepEqual(until(busy), { failures: 0, busy: { until: 61_000, seconds: 60, why: '529 overloaded' } })
  assert.deepEqual(until({ ...busy, retryAt: 4_000 }), { failures: 0, busy: { until: 4_000, why: '529 overloaded' } })
})

test('a health file that a person edited is read, or refused', () => {
  const agents = { claude: { failures: 1, parked: { until: 9, why: 'quota' } } }
  assert.deepEqual([{}, { position: 'claude' }, { agents }].map(knownHealth), [
    noHealth,
    { position: 'claude', agents: {} },
    { agents },
  ])
  const strange = [null, [], 1, 'x', { agents: [] }, { agents: { a: null } }, { agents: { a: {} } }, { position: 1 }]
  assert.deepEqual(
    [...strange, { agents: { a: { failures: 0, parked: true } } }].filter((found) => knownHealth(found)),
    [],
  )
})

test('failures of other kinds change no health', () => {
  const kinds: FailureKind[] = ['auth', 'missing', 'overflow', 'denied', 'unfinished', 'aborted']
  for (const kind of kinds) assert.equal(fail(noHealth, { kind, message: '' }, 0), noHealth)
})

test('the longest absence counts; a cool-down does not keep away an agent that the person asked for', () => {
  const health: Health = {
    agents: {
      claude: {
        failures: 3,
        cooldown: { until: 300, seconds: 60 },
        busy: { until: 200, why: 'overloaded' },
        parked: { until: 100, why: 'quota' },
      },
    },
  }
  assert.deepEqual(away(health, 'claude', 99), { as: 'cooling down', until: 300 })
  assert.deepEqual(away(health, 'claude', 99, true), { as: 'busy', until: 200, why: 'overloaded' })
  assert.equal(away(health, 'claude', 300), undefined)
  assert.equal(away(health, 'constructor', 0), undefined)
})

test('a healthy answer changes nothing when the position stays', () => {
  const health: Health = { position: 'claude', agents: { gemini: { failures: 2 } } }
  assert.equal(afterSuccess(health, 'claude', true), health)
  assert.equal(afterSuccess(health, 'codex', false), health)
  assert.deepEqual(afterSuccess(health, 'gemini', false), { position: 'claude', agents: {} })
})

test('property: one agent is never changed by what another one does, and a success heals all', () => {
  const kind = fc.constantFrom<FailureKind>('quota', 'busy', 'crash', 'timeout', 'auth', 'overflow')
  const step = fc.record({ name: fc.constantFrom('a', 'b'), kind, wait: fc.nat(hour) })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let health = noHealth
      let now = 0
      for (const { name, kind, wait } of steps) {
        const other = name === 'a' ? 'b' : 'a'
        const before = health.agents[other]
        health = afterFailure(health, name, { kind, message: kind }, (now += wait), limits)
        assert.equal(health.agents[other], before)
        const { cooldown, parked } = health.agents[name] ?? {}
        assert.ok((cooldown?.seconds ?? 0) <= limits.maxSeconds && (parked?.seconds ?? 0) <= 24 * 3_600)
      }
      assert.deepEqual(afterSuccess(afterSuccess(health, 'a', false), 'b', false), noHealth)
    }),
  )
})

test('a clock that is set back keeps nobody away longer than was meant; a time that a provider named stays', () => {
  const noon = Date.parse('2026-11-15T12:00:00Z')
  const back = noon - 86_400_000
  const of = (a: Health['agents'][string]) => ({ agents: { a } }) as Health
  const cooling = of({ failures: 3, cooldown: { until: noon + 60_000, seconds: 60 } })
  assert.deepEqual([away(cooling, 'a', noon)?.as, away(cooling, 'a', back)], ['cooling down', undefined])
  const guessed = of({ failures: 0, parked: { until: noon + 3_600_000, seconds: 3_600, why: 'quota' } })
  assert.deepEqual([away(guessed, 'a', noon)?.as, away(guessed, 'a', back)], ['parked', undefined])
  const stated = of({ failures: 0, parked: { until: noon + 3_600_000, why: 'quota' } })
  assert.equal(away(stated, 'a', back)?.as, 'parked')
})
