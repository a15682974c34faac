import type { StoredSlot } from '../../src/crew/slot.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { parseSlot } from '../../src/crew/slot.ts'

const base = { id: 1, agent: 'claude', task: 'x', cwd: '/', leash: 'ask', needs: [], patience: 0, since: 0 } as const
const stored = (more: Partial<StoredSlot>): StoredSlot => ({
  ...base,
  needs: [],
  session: 's',
  terminal: { id: 't' },
  queue: [],
  state: 'idle',
  ...more,
})
const flight = { turn: 'turn', mark: 'mark' }
const send = { id: 'send', text: 'go on' }

test('a stored slot whose fields agree with its state is read as it is', () => {
  const question = { about: 'choice' as const, text: 'Which?', from: [], options: [] }
  const slots = [
    stored({}),
    stored({ state: 'held', needs: [2] }),
    stored({ state: 'starting', queue: [send] }),
    stored({ state: 'busy', flight, queue: [send] }),
    stored({ state: 'busy', queue: [send], wish: 'kill' }),
    stored({ state: 'asking', asks: [{ ask: 'a', turn: 'turn', question }], flight }),
    stored({ state: 'failed', why: 'quota' }),
  ]
  assert.deepEqual(slots.map(parseSlot), slots)
})

test('a stored slot whose fields disagree with its state gets the state that they describe', () => {
  assert.deepEqual(
    [
      stored({ state: 'busy' }),
      stored({ state: 'idle', queue: [send] }),
      stored({ state: 'idle', flight }),
      stored({ state: 'asking' }),
      stored({ state: 'exited', flight, wish: 'kill', queue: [send] }),
    ].map(parseSlot),
    [
      stored({ state: 'idle' }),
      stored({ state: 'busy', queue: [send] }),
      stored({ state: 'busy', flight }),
      stored({ state: 'starting' }),
      { ...base, session: 's', state: 'exited', why: '', queue: [] },
    ],
  )
})
