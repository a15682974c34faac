import type { Limit } from '../../src/mind/limits.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spent, withLimit } from '../../src/mind/limits.ts'
import { rig } from './rig.ts'

const limit = (window: string | undefined, used: number, until?: number): Limit => ({
  type: 'limit',
  used,
  ...(until === undefined ? {} : { until }),
  ...(window === undefined ? {} : { window }),
})

test('a spent window is a quota until it begins anew; of several the last to begin counts', () => {
  const cases: [Limit[], ReturnType<typeof spent>][] = [
    [[], undefined],
    [[limit('5-hour', 99, 2000)], undefined],
    [[limit('5-hour', 100, 2000)], { kind: 'quota', message: 'its 5-hour limit is spent', retryAt: 2000 }],
    [[limit(undefined, 104, 2000)], { kind: 'quota', message: 'its limit is spent', retryAt: 2000 }],
    [
      [limit('5-hour', 100, 2000), limit('weekly', 100, 9000), limit('monthly', 20, 99_000)],
      { kind: 'quota', message: 'its weekly limit is spent', retryAt: 9000 },
    ],
    // One that has begun anew, or that nobody knows the end of, keeps nobody away.
    [[limit('5-hour', 100, 1000)], undefined],
    [[limit('5-hour', 100)], undefined],
  ]
  assert.deepEqual(
    cases.map(([limits]) => spent(limits, 1000)),
    cases.map(([, failure]) => failure),
  )
})

test('what is told of a window replaces what was known of it', () => {
  const first = withLimit([], limit('5-hour', 10, 2000))
  const both = withLimit(first, limit('weekly', 20, 9000))
  assert.deepEqual(withLimit(both, limit('5-hour', 30, 2000)), [limit('weekly', 20, 9000), limit('5-hour', 30, 2000)])
})

test('an answer that spends the last of a window is an answer, and whoever gave it is parked', async () => {
  const limit = { type: 'limit' as const, used: 100, until: 9_000_000_000_000, window: '5-hour' }
  const { turn, health } = rig({ codex: [[limit, { say: 'the last one' }]], claude: [[{ say: 'C' }]] })
  const { result } = await turn()
  assert.deepEqual(result, { ok: true, text: 'the last one' })
  assert.deepEqual((await health.read()).agents, {
    codex: { failures: 0, parked: { until: 9_000_000_000_000, why: 'its 5-hour limit is spent' } },
  })
})
