import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Look, Reader } from '../../src/core/screen/reading.ts'
import { fenceInstruction, fenceMarks, findFence } from '../../src/core/screen/fence.ts'
import { quietAfterMs, read } from '../../src/core/screen/reading.ts'

const { open, close } = fenceMarks('a1b2c3')

test('the answer is inside the last closed fence', () => {
  const text = `${open}\nfirst\n${close}\nmore\n  ${open}  \n\n second\nline \n${close}\n$ `
  assert.deepEqual(findFence(text, 'a1b2c3'), { answer: 'second\nline' })
})

test('an echoed instruction, another turn’s fence or one left open is no answer', () => {
  for (const text of [fenceInstruction('a1b2c3'), `${open}\nx`, `x\n${close}`, `${close}\nx\n${open}`, ''])
    assert.equal(findFence(text, 'a1b2c3'), undefined)
  assert.equal(findFence(`${open}\nx\n${close}`, 'ffffff'), undefined)
})

test('property: whatever is inside comes back, trimmed', () => {
  const line = fc.string().filter((text) => !text.includes('termaite-response') && !text.includes('\n'))
  fc.assert(
    fc.property(fc.array(line), fc.array(line), (before, inside) => {
      const text = [...before, open, ...inside, close].join('\n')
      assert.deepEqual(findFence(text, 'a1b2c3'), { answer: inside.join('\n').trim() })
    }),
  )
})

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

test('an idle mark counts only in the last five lines that hold anything', () => {
  assert.deepEqual(read(look(['> x', '1', '2', '3', '', '4']), reader), { state: 'idle', by: 'pattern' })
  assert.deepEqual(read(look(['> x', '1', '2', '3', '4', '5']), reader), { state: 'unknown', by: 'quiet' })
})

test('without a mark the children tell, then the quiet; a known program without its marks stays unknown', () => {
  assert.deepEqual(read(look(['?'], { children: 1 }), {}), { state: 'busy', by: 'children' })
  assert.deepEqual(read(look(['?'], { quietMs: quietAfterMs - 1 }), {}), { state: 'busy', by: 'quiet' })
  assert.deepEqual(read(look(['?']), {}), { state: 'idle', by: 'quiet' })
  assert.deepEqual(read(look(['?']), reader), { state: 'unknown', by: 'quiet' })
})
