import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../src/core/talk/entry.ts'
import { HandClock } from '../hand-clock.ts'
import { TurnSummary } from '../../src/desk/turn-summary.ts'

function seen(...events: Event[]) {
  const turn = new TurnSummary(new HandClock())
  for (const event of events) turn.see(event)
  return { by: turn.by, thought: turn.thought, spent: turn.spent.total }
}

const reply = (by: string): Event => ({ type: 'reply', text: 'Done.', by })
const verdict = (framework: 'consensus' | 'direct', by: string): Event => ({
  type: 'verdict',
  framework,
  why: 'several ways are possible',
  calls: framework === 'direct' ? 0 : 6,
  ms: 5,
  by,
})

test('the usage of an advisor is counted once, however it is reported', () => {
  const usage = { type: 'usage', input: 90, output: 10, source: 'reported', by: 'gemini' } as const
  const inner: Event = { type: 'inner', role: 'enumerator', event: usage }
  assert.deepEqual(seen(usage, inner).spent, { used: 100, source: 'reported' })
})

test('a turn that was thought through belongs to the agent that acted, not to termaite, which reported', () => {
  const thought = { framework: 'consensus', calls: 6 }
  const spent = undefined
  assert.deepEqual(seen(reply('claude'), reply('termaite'), verdict('consensus', 'claude')), {
    by: 'claude',
    thought,
    spent,
  })
  assert.deepEqual(seen(reply('termaite'), verdict('consensus', 'termaite')), { by: undefined, thought, spent })
  assert.equal(seen(reply('claude'), reply('termaite')).by, 'claude')
  assert.deepEqual(seen(reply('claude'), verdict('direct', 'claude')), { by: 'claude', thought: undefined, spent })
})

test('a turn takes as long as it takes, also when the clock is set meanwhile and for a screen that joined late', async () => {
  const yearMs = 31_536_000_000
  const clock = new HandClock()
  const asked = { type: 'prompt', text: 'go', id: 'p', at: clock.now(), by: 'user', session: 's', turn: 't' } as Event
  await clock.turn(4_000)
  const turn = new TurnSummary(clock)
  turn.see(asked)
  const times = [turn.ms]
  for (const shiftMs of [yearMs, -2 * yearMs]) {
    clock.set(clock.now() + shiftMs)
    await clock.turn(1_000)
    times.push(turn.ms)
  }
  const outcome = { ok: true, text: 'done' }
  turn.see({ type: 'end', outcome, id: 'e', at: clock.now(), by: 'claude', session: 's', turn: 't' } as Event)
  await clock.turn(1_000)
  assert.deepEqual([...times, turn.ms], [4_000, 5_000, 6_000, 6_000])
})
