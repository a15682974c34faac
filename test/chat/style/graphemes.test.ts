import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { graphemeSegmenter, rgiEmojiRegex, wordSegmenter } from '../../../src/chat/style/graphemes.ts'
import { sized } from '../../full.ts'

const letters = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0x20, max: 0x27ff }).map((code) => String.fromCodePoint(code)) }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      '─',
      '✔',
      '\u0301',
      '\u200d',
      '\ufe0f',
      '👩',
      '🇩',
      '🇪',
      '각',
      'ᄀ',
      '\r',
      '\n',
      'न',
      'ि',
    ),
  }),
)

test('a text has the same characters and words as by Node’s own segmenters', () => {
  for (const [own, granularity] of [
    [graphemeSegmenter, 'grapheme'],
    [wordSegmenter, 'word'],
  ] as const) {
    const nodes = new Intl.Segmenter(undefined, { granularity })
    fc.assert(
      fc.property(letters, (text) => assert.deepEqual([...own.segment(text)], [...nodes.segment(text)])),
      { numRuns: sized(500, 20_000) },
    )
  }
})

test('in a plain text no two letters make one character', () => {
  const nodes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  // What is plain is cut letter by letter into a list, and everything else by Node.
  const plain = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).filter((letter) =>
    Array.isArray(graphemeSegmenter.segment(letter)),
  )
  assert.equal(plain.length, 3_477)
  for (const step of [0, 1, 2, 97, 501, 1_009, 1_500]) {
    const pairs = plain.map((letter, at) => letter + plain[(at + step) % plain.length]!).join('')
    assert.equal([...nodes.segment(pairs)].length, pairs.length, `each with the letter ${step} places further`)
  }
})

test('an emoji is one by the same rule as in Unicode, for every single letter and for sequences', () => {
  const rule = /^\p{RGI_Emoji}$/v
  const wrong: string[] = []
  for (let code = 0; code <= 0x1ffff; code++) {
    const letter = String.fromCodePoint(code)
    if (rgiEmojiRegex.test(letter) !== rule.test(letter)) wrong.push(code.toString(16))
  }
  assert.deepEqual(wrong, [])
  const sequences = ['', 'ab', '❤️', '❤', '1️⃣', '🇩🇪', '🇩', '👩‍👩‍👧', '👍🏽', '👍\u200d', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '✔️', '⌚️']
  for (const text of sequences) assert.equal(rgiEmojiRegex.test(text), rule.test(text), text)
})
