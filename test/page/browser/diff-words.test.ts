import type { WordPart } from '../../../src/page/browser/diff/diff-words.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { pairedLines, wordChanges } from '../../../src/page/browser/diff/diff-words.ts'
import { codeName, codeSign, textParts } from '../../../src/page/browser/words/visible-text.ts'

/** Changed words in brackets. */
const shown = (parts: readonly WordPart[] | undefined) =>
  parts?.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('')

const marked = (before: string, after: string) => {
  const parts = wordChanges(before, after)
  return [shown(parts?.before), shown(parts?.after)]
}

test('whole words are marked, and lines that have nothing in common are not', () => {
  assert.deepEqual(marked('  return round(price)', '  return round(sum)'), [
    '  return round([price])',
    '  return round([sum])',
  ])
  assert.deepEqual(marked('const total = a + b', 'const totals = a + b + c'), [
    'const [total] = a + b',
    'const [totals] = a + b[ + c]',
  ])
  assert.deepEqual(marked('import x from "y"', '}).then(() => 7)'), [undefined, undefined])
  assert.deepEqual(marked('same', 'same'), ['same', 'same'])
})

test('the parts of each side are its text, whatever the lines are, and no character is cut in two', () => {
  const line = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ unit: 'grapheme', maxLength: 40 }))
  fc.assert(
    fc.property(line, line, line, (one, two, three) => {
      for (const [before, after] of [
        [one, two],
        [one + two, one + three],
        [two + one, three + one],
      ] as const) {
        const parts = wordChanges(before, after)
        if (!parts) continue
        assert.deepEqual(
          [parts.before, parts.after].map((side) => side.map(({ text }) => text).join('')),
          [before, after],
        )
        for (const { text } of [...parts.before, ...parts.after])
          assert.equal(text.isWellFormed() || !before.isWellFormed() || !after.isWellFormed(), true)
      }
    }),
  )
})

test('long lines are compared at their ends alone, and quickly', () => {
  const long = 'x '.repeat(1_000_000)
  assert.equal(shown(wordChanges(`${long}old`, `${long}new`)?.after), `${long}[new]`)
})

test('lines are paired by likeness and in their order', () => {
  assert.deepEqual(pairedLines(['const a = 1', 'const b = 2'], ['// a comment', 'const a = 10', 'const b = 20']), [
    [0, 1],
    [1, 2],
  ])
  assert.deepEqual(pairedLines(['foo()'], ['nothing like that']), [])
  const many = Array.from({ length: 50 }, (_, at) => `line ${at}`)
  assert.deepEqual([pairedLines(many, many).length, pairedLines(many, many.slice(1))], [50, []])
})

test('characters that are not seen become parts with their names', () => {
  assert.deepEqual(textParts('a\u202eb\u001b[0m\tc'), [
    { words: 'a' },
    { code: 0x202e },
    { words: 'b' },
    { code: 0x1b },
    { words: '[0m\tc' },
  ])
  assert.deepEqual(textParts('👩‍💻 👍🏽‍ה'), [{ words: '👩‍💻 👍🏽‍ה' }])
  assert.deepEqual(textParts('a\u200db'), [{ words: 'a' }, { code: 0x200d }, { words: 'b' }])
  assert.deepEqual(
    [codeSign(0x1b), codeSign(0x202e), codeName(0x202e)],
    ['ESC', 'U+202E', 'U+202E: right-to-left override'],
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const back = textParts(text).map((part) => ('words' in part ? part.words : String.fromCodePoint(part.code)))
      assert.equal(back.join(''), text)
    }),
  )
})
