import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Strategy } from '../../src/core/work/agent.ts'
import type { AgentHealth } from '../../src/turn/rotation/health.ts'
import { agentOrder, nextAgent, whyChosen } from '../../src/turn/rotation/agent-order.ts'
import { rig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const names = ['a', 'b', 'c']
const parked: AgentHealth = { failures: 0, parked: { until: 100, why: 'limit' } }
const cooling: AgentHealth = { failures: 3, cooldown: { until: 100, seconds: 1 } }

test('nextAgent() goes by strategy, health and aim', () => {
  const up = (strategy: Strategy, agents: Record<string, AgentHealth> = {}, aimed?: string, now = 0) =>
    nextAgent(names, strategy, { position: 'b', agents }, now, aimed)
  assert.deepEqual(
    [
      up('round-robin'),
      up('exhaustion'),
      up('random'),
      up('round-robin', { c: parked }),
      up('round-robin', { c: parked }, undefined, 100),
      up('exhaustion', { b: cooling }),
      up('exhaustion', { b: cooling }, 'b'),
      up('exhaustion', { c: parked }, 'c'),
      up('random', {}, 'a'),
      up('random', { a: parked }, 'a'),
      up('random', { a: parked, b: parked }),
      up('round-robin', { a: parked, b: parked, c: parked }),
    ],
    ['c', 'b', undefined, 'a', 'c', 'c', 'b', 'b', 'a', undefined, 'c', undefined],
  )
  assert.equal(nextAgent(names, 'exhaustion', { position: 'b', agents: {} }, 0, undefined, new Set(['b'])), 'c')
  assert.equal(nextAgent([], 'round-robin', { agents: {} }, 0), undefined)
})

test('under measured the next agent is the first free one of the draw; before the draw is known none is shown', () => {
  const up = (drawn?: readonly string[], agents: Record<string, AgentHealth> = {}, aimed?: string) =>
    nextAgent(names, 'measured', { position: 'b', agents }, 0, aimed, undefined, drawn)
  assert.deepEqual(
    [
      up(),
      up(undefined, {}, 'b'),
      up(['c', 'a', 'b']),
      up(['c', 'a', 'b'], { c: parked }),
      up(['c', 'a', 'b'], {}, 'b'),
    ],
    [undefined, 'b', 'c', 'a', 'b'],
  )
  // Agents that the draw does not know stand behind it, in the configured order; without a draw that order holds.
  const order = (drawn?: readonly string[]) => agentOrder(names, { strategy: 'measured', drawn, random: () => 0 })
  assert.deepEqual([order(), order([]), order(['b', 'gone'])], [names, names, ['b', 'a', 'c']])
})

test('the rotation asks the agent that nextAgent() names', async () => {
  for (const strategy of ['round-robin', 'exhaustion'] as const) {
    const {
      turn,
      health,
      names: asked,
      clock,
    } = rig(
      {
        a: [[{ fail: { kind: 'quota', message: 'limit', retryAt: 2_000 } }], [{ say: 'A' }]],
        b: [[{ say: 'B' }]],
        c: [[{ say: 'C' }]],
      },
      { strategy },
    )
    await turn()
    for (let i = 0; i < 5; i++) {
      const next = nextAgent(names, strategy, await health.read(), clock.now())
      await turn()
      assert.equal(asked().at(-1), next)
      await clock.turn(1_000)
    }
  }
})

test('whyChosen() gives the reason in a few words', (t) => {
  const after = { name: 'claude', kind: 'quota' } as const
  golden(t, [
    whyChosen('round-robin', {}),
    whyChosen('exhaustion', { aimed: false }),
    whyChosen('random', {}),
    whyChosen('round-robin', { aimed: true }),
    whyChosen('round-robin', { by: 'gemini', after }),
    whyChosen('round-robin', { by: 'claude', aimed: true, after: { name: 'claude', kind: 'auth' } }),
  ])
})
