import type { PlacedEntry } from '../../../src/core/turns/conversations.ts'
import type { Entry } from '../../../src/core/talk/entry.ts'
import type { LiveTurn } from '../../../src/core/turns/machine-turns.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { conversationBlocks, growState } from '../../../src/page/browser/talk/session-blocks.ts'

let at = 0
const entry = (id: string, over: object): PlacedEntry => ({
  at: ++at,
  entry: { id, at, by: 'claude', session: 's1', turn: 't1', ...over } as Entry,
})

const prompt = entry('e1', { type: 'prompt', by: 'user', text: 'Look' })
const call = entry('e2', { type: 'call', call: 'c1', tool: 'shell', input: { command: 'ls' } })
const result = entry('e3', { type: 'result', call: 'c1', ok: true, text: 'a b' })
const reply = entry('e4', { type: 'reply', text: 'I look. Two files.' })
const end = entry('e5', { type: 'end', outcome: { ok: true, text: 'I look. Two files.' } })

const part = { type: 'text' as const, by: 'claude' }
const told: LiveTurn = {
  type: 'live',
  turn: 't1',
  by: 'claude',
  speech: [
    { ...part, part: 0, after: 'e1', from: 0, text: 'I look.' },
    { ...part, part: 1, after: 'e3', from: 0, text: 'Two fi' },
  ],
  progress: [{ call: 'c1', from: 0, text: 'a' }],
  inside: [],
}

const shown = (entries: readonly PlacedEntry[], live: Iterable<ReturnType<typeof growState>>) =>
  conversationBlocks(entries, live).map(({ name, block }) => [
    name,
    block.type,
    'text' in block ? block.text : block.type === 'call' ? `${block.state} ${block.output}` : '',
  ])

test('live words stand behind the entry that they came after, and wait for it', () => {
  const live = [growState(undefined, told)]
  assert.deepEqual(shown([prompt], live), [
    ['e1', 'prompt', 'Look'],
    ['t1 reply 0', 'reply', 'I look.'],
  ])
  assert.deepEqual(shown([prompt, call], live), [
    ['e1', 'prompt', 'Look'],
    ['t1 reply 0', 'reply', 'I look.'],
    ['e2', 'call', 'running a'],
  ])
  assert.deepEqual(shown([prompt, call, result], live), [
    ['e1', 'prompt', 'Look'],
    ['t1 reply 0', 'reply', 'I look.'],
    ['e2', 'call', 'ok a b'],
    ['t1 reply 1', 'reply', 'Two fi'],
  ])
})

test('kept entries take the place of live words, whichever come first', () => {
  const live = [
    growState(growState(undefined, told), {
      ...told,
      speech: [{ ...part, part: 1, after: 'e3', from: 6, text: 'les.' }],
    }),
  ]
  const kept = [
    ['e1', 'prompt', 'Look'],
    ['e2', 'call', 'ok a b'],
    ['e4', 'reply', 'I look. Two files.'],
  ]
  assert.deepEqual(shown([prompt, call, result, reply], live), kept)
  const over = [...kept, ['t1 closing 0', 'closing', '']]
  assert.deepEqual(shown([prompt, call, result, reply, end], live), over)
  assert.deepEqual(shown([prompt, call, result, reply, end], []), over)
})

test('texts grow from where they differ, and a part that is gone is forgotten', () => {
  const first = growState(undefined, told)
  const next = growState(first, {
    ...told,
    speech: [{ ...part, part: 1, after: 'e3', from: 4, text: 'trees' }],
    progress: [{ call: 'c1', from: 1, text: ' b' }],
  })
  assert.deepEqual(next, {
    turn: 't1',
    by: 'claude',
    speech: [{ ...part, part: 1, after: 'e3', text: 'Two trees' }],
    progress: [{ call: 'c1', text: 'a b' }],
    inside: [],
  })
})
