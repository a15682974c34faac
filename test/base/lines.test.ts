import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { Lines } from '../../src/base/text/lines.ts'
import { Tail, closingLine } from '../../src/agents/process-failure.ts'

test('lines come whole wherever the stream is cut, blank ones not at all', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '{', '\n') })
  fc.assert(
    fc.property(fc.array(line), (chunks) => {
      const lines = new Lines()
      const got = [...chunks.flatMap((chunk) => [...lines.push(chunk)]), ...lines.end()]
      const whole = chunks
        .join('')
        .split('\n')
        .filter((text) => text.trim() !== '')
      assert.deepEqual([got, lines.dropped], [whole, 0])
    }),
  )
})

test('a line beyond the limit is dropped and counted, its neighbours are not', () => {
  const lines = new Lines(5)
  const got = ['one\ntoo', ' long', ' for it\ntwo\n', '12345\n123456'].flatMap((chunk) => [...lines.push(chunk)])
  assert.deepEqual([got, [...lines.end()], lines.dropped], [['one', 'two', '12345'], [], 2])
})

test('the last words are kept, however much was said', () => {
  const tail = new Tail(5)
  for (let i = 0; i < 100; i++) tail.add(`${i % 10}`)
  assert.equal(tail.text, '56789')
  assert.equal(closingLine(`one\n${'x'.repeat(400)}\n \n`), `${'x'.repeat(300)}…`)
  assert.equal(closingLine(''), '')
})
