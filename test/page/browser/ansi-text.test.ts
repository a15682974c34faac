import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { outputLines, outputParts } from '../../../src/page/browser/words/ansi-text.ts'

test('colours stay, and every other sequence of a terminal is left out', () => {
  const line =
    'a \u001b[1;31mred\u001b[22m thin\u001b[0m \u001b]8;;javascript:x\u0007link\u001b]8;;\u001b\\ \u001b[2K\u001b[?25lb\u001b(B\u001b[38;5;12mc'
  assert.deepEqual(outputParts(line), [
    { text: 'a ' },
    { text: 'red', colour: 'red', bold: true },
    { text: ' thin', colour: 'red' },
    { text: ' ' },
    { text: 'link' },
    { text: ' ' },
    { text: 'b' },
    { text: 'c' },
  ])
})

test('a line that was written over is shown as it was last', () => {
  assert.deepEqual(outputLines('10 %\r50 %\rdone\r\nnext\r\n'), ['done', 'next'])
  assert.deepEqual(outputLines(''), [])
})

test('a sequence inside another one leaves nothing that could steer a terminal', () => {
  assert.deepEqual(outputParts('\u001b\u009b][]'), [{ text: '[]' }])
  assert.deepEqual(outputParts('a\tb\u0008\u001b'), [{ text: 'a\tb' }])
})

test('no text is lost but sequences, and no control character is left that begins one', () => {
  const piece = fc.constantFrom('\u001b', '[', ']', '31', ';', 'm', 'a', '\u0007', '\\', ' ', 'é', '?', '\u009b')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const shown = outputParts(pieces.join(''))
        .map(({ text }) => text)
        .join('')
      assert.doesNotMatch(shown, /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/)
    }),
    { numRuns: 1000 },
  )
  assert.equal(
    outputParts('plain')
      .map(({ text }) => text)
      .join(''),
    'plain',
  )
})
