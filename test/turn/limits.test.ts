import type { Limit } from '../../src/turn/rotation/health.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { nextAgent } from '../../src/turn/rotation/agent-order.ts'
import { spentLimit, withLimit } from '../../src/turn/rotation/health.ts'
import { codex } from '../../src/profiles/codex/codex.ts'
import { recorded, replay } from '../profiles/replay.ts'
import { rig } from './rig.ts'

const limit = (window: string | undefined, used: number, until?: number): Limit => ({
  type: 'limit',
  used,
  ...(until === undefined ? {} : { until }),
  ...(window === undefined ? {} : { window }),
})

test('a spent window is a quota until it begins anew; of several the last to begin counts', () => {
  const cases: [Limit[], ReturnType<typeof spentLimit>][] = [
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
    cases.map(([limits]) => spentLimit(limits, 1000)),
    cases.map(([, failure]) => failure),
  )
})

test('a new report of a window replaces the old one', () => {
  const first = withLimit([], limit('5-hour', 10, 2000))
  const both = withLimit(first, limit('weekly', 20, 9000))
  assert.deepEqual(withLimit(both, limit('5-hour', 30, 2000)), [limit('weekly', 20, 9000), limit('5-hour', 30, 2000)])
})

test('an answer that spends the last of a window counts, and its agent is parked', async () => {
  const limit = { type: 'limit' as const, used: 100, until: 9_000_000_000_000, window: '5-hour' }
  const { turn, health } = rig({ codex: [[limit, { say: 'the last one' }]], claude: [[{ say: 'C' }]] })
  const { result } = await turn()
  assert.deepEqual(result, { ok: true, text: 'the last one' })
  assert.deepEqual((await health.read()).agents, {
    codex: { failures: 0, parked: { until: 9_000_000_000_000, why: 'its 5-hour limit is spent' } },
  })
})

/** The windows that Codex was recorded to report in a turn, with these parts of them spent. */
function windows(primary: number, secondary: number): Limit[] {
  const { limits } = recorded('codex')
  const out = limits!.ended.out
    .replace('"usedPercent":93', `"usedPercent":${primary}`)
    .replace('"usedPercent":12', `"usedPercent":${secondary}`)
  return replay(codex, { ...limits!, ended: { ...limits!.ended, out } }).filter((step) => step.type === 'limit')
}

test('the windows of Codex, as it was recorded, park it before anybody is refused, and let it back', async () => {
  const reset = { primary: 1_794_762_000_000, secondary: 1_795_176_000_000 }
  for (const [primary, secondary, parked] of [
    [93, 12, undefined],
    [100, 12, { until: reset.primary, why: 'its 5-hour limit is spent' }],
    [100, 100, { until: reset.secondary, why: 'its weekly limit is spent' }],
  ] as const) {
    const { turn, health, names } = rig(
      { codex: [[...windows(primary, secondary), { say: 'X' }]], gemini: [[{ say: 'G' }]] },
      { strategy: 'exhaustion' },
    )
    await turn()
    await turn()
    const { agents } = await health.read()
    assert.deepEqual([agents.codex?.parked, names()], [parked, ['codex', parked ? 'gemini' : 'codex']])
    const next = async (now: number) => nextAgent(['codex', 'gemini'], 'round-robin', await health.read(), now)
    if (!parked) continue
    assert.deepEqual([await next(parked.until - 1), await next(parked.until)], ['gemini', 'codex'])
  }
})
