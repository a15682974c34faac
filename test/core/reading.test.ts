import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { Look, Reader } from '../../src/core/screen/reading.ts'
import { fenceMarks, plainMarks } from '../../src/core/screen/fence.ts'
import { idleRow, quietAfterMs, read } from '../../src/core/screen/reading.ts'

const { open, close } = fenceMarks('a1b2c3')
const reader: Reader = { busy: /esc to interrupt/, asking: /Allow\?/, idle: /^> /m }
const look = (rows: string[], part: Partial<Look> = {}): Look => ({
  screen: { rows, cols: 80, cursor: { row: 0, col: 0 } },
  children: 0,
  quietMs: quietAfterMs,
  ...part,
})

test('a screen is read by its surest sign', () => {
  const rows = ['> type here', 'esc to interrupt', 'Allow?']
  const all = [...rows, open, 'done', close]
  assert.deepEqual(read(look(all, { nonce: 'a1b2c3', children: 3, quietMs: 0 }), reader), {
    state: 'idle',
    by: 'fence',
  })
  assert.deepEqual(read(look(all, { nonce: 'other' }), reader), { state: 'busy', by: 'pattern' })
  assert.deepEqual(read(look(['> x', 'Allow?']), reader), { state: 'asking', by: 'pattern' })
  assert.deepEqual(read(look(['> x', '', ''], { children: 2, quietMs: 0 }), reader), { state: 'idle', by: 'pattern' })
})

test('only a fence behind the prompt closes the turn', () => {
  const old = [open, 'said before', close, '> again', 'esc to interrupt']
  const busy = { state: 'busy', by: 'pattern' }
  assert.deepEqual(read(look(old, { nonce: 'a1b2c3', since: 'esc to interrupt' }), reader), busy)
  const plain = [plainMarks.open, 'said', plainMarks.close].join('\n')
  assert.deepEqual(read(look([plain, 'esc to interrupt']), reader), busy)
  assert.deepEqual(read(look([plain, 'esc to interrupt'], { nonce: 'a1b2c3' }), reader), busy)
  assert.deepEqual(read(look([], { since: plain, children: 1 }), reader), { state: 'idle', by: 'fence' })
})

test('an idle mark counts only in the last five lines that hold anything', () => {
  assert.deepEqual(read(look(['> x', '1', '2', '3', '', '4']), reader), { state: 'idle', by: 'pattern' })
  assert.deepEqual(read(look(['> x', '1', '2', '3', '4', '5']), reader), { state: 'unknown', by: 'quiet' })
})

test('an idle mark is found with and without the blanks at the end of its row', () => {
  const idle = { state: 'idle', by: 'pattern' }
  assert.deepEqual(read(look(['said', '>']), reader), idle)
  assert.deepEqual(read(look(['said', '>   ']), { idle: />$/ }), idle)
  assert.equal(idleRow(['> a', 'b', '>', 'c'], reader), 2)
  assert.equal(idleRow(['a', '───', '❯', '───'], { idle: /^─+\n❯\s/m }), 1)
  assert.equal(idleRow(['a'], reader), -1)
})

test('without a mark the child processes decide, then the quiet; a known program without its marks stays unknown', () => {
  assert.deepEqual(read(look(['?'], { children: 1 }), {}), { state: 'busy', by: 'children' })
  assert.deepEqual(read(look(['?'], { quietMs: quietAfterMs - 1 }), {}), { state: 'busy', by: 'quiet' })
  assert.deepEqual(read(look(['?']), {}), { state: 'idle', by: 'quiet' })
  assert.deepEqual(read(look(['?']), reader), { state: 'unknown', by: 'quiet' })
})

test('property: a known program that shows no mark of its own is never idle', () => {
  const rows = fc.array(fc.string().filter((row) => !/^>(?: |$)/m.test(row)))
  fc.assert(
    fc.property(rows, fc.nat(3), fc.nat(10 * quietAfterMs), (text, children, quietMs) => {
      assert.notEqual(read(look(text, { children, quietMs, nonce: 'a1b2c3' }), reader).state, 'idle')
    }),
  )
})

test('a child process of the turn outweighs the prompt of a program without a busy pattern, for two minutes', () => {
  const standing = (over: Partial<Look>) =>
    read(look(['> do it', 'begins', '> '], { children: 1, ...over }), { idle: /^> /m })
  assert.deepEqual(standing({ stillMs: 119_999 }), { state: 'busy', by: 'children' })
  assert.deepEqual(standing({ stillMs: 120_000 }), { state: 'idle', by: 'pattern' })
  assert.deepEqual(standing({ stillMs: 5_000, children: 0 }), { state: 'idle', by: 'pattern' })
  // Without a turn nobody knows which children a program has at rest.
  assert.deepEqual(standing({}), { state: 'idle', by: 'pattern' })
})

test('a busy machine is waited for longer', () => {
  assert.deepEqual(read(look(['?'], { quietMs: 3 * quietAfterMs - 1, stretch: 3 }), {}), { state: 'busy', by: 'quiet' })
  assert.deepEqual(read(look(['?'], { quietMs: 3 * quietAfterMs, stretch: 3 }), {}), { state: 'idle', by: 'quiet' })
})
