import type { Event } from '../../src/core/talk/entry.ts'
import type { Agent, Turn } from '../../src/core/work/agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { failed } from '../../src/core/talk/outcome.ts'
import { rig } from './rig.ts'

/** An agent that takes what is typed once, and ends like this; and the turns it was given. */
function steered(name: string, end: Extract<Event, { type: 'end' }>) {
  const turns: Turn[] = []
  const agent = (): Agent => ({
    name,
    traits: { window: 1000, memory: 'none', talks: true, steers: true },
    async *turn(turn) {
      turns.push(turn)
      await turn.steer()
      yield end
    },
    async close() {},
  })
  return { agent, turns }
}

test('text that was typed to agents that failed is given to the next one', async () => {
  const typed = [['in blue'], [], ['and round', 'and small'], ['too late']]
  const fail = (kind: 'quota' | 'crash') => ({ type: 'end' as const, outcome: failed(kind, kind) })
  const [a, b, c] = [steered('a', fail('quota')), steered('b', fail('crash')), steered('c', fail('crash'))]
  const d = steered('d', { type: 'end', outcome: { ok: true, text: 'D' } })
  const { turn } = rig({ a: a.agent, b: b.agent, c: c.agent, d: d.agent })
  await turn({ steer: async () => typed.shift() ?? [] })
  assert.deepEqual(
    [a, b, c, d].map(({ turns }) => turns.map(({ steered }) => steered)),
    [[[]], [['in blue']], [['in blue']], [['in blue', 'and round', 'and small']]],
  )
})
