import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { stringify } from 'yaml'
import { frontmatter } from '../../src/base/text/frontmatter.ts'

test('fields are read as people write them', () => {
  const text = [
    '\uFEFF---  ',
    'name: pdf',
    'description: Use when: a PDF is meant, "not" a PNG. See issue #12',
    "single: 'it''s'",
    'double: "a\\nb"',
    'odd: "a \\d"',
    '# a comment',
    'literal: |',
    '  one',
    '    two',
    '',
    '  three',
    'folded: >-',
    '  one',
    '  two',
    '',
    '  three',
    'plain: begins here',
    '  and goes on',
    'below:',
    '  begins below',
    'inline: [a, "b", ]',
    'items:',
    '- a',
    "- 'b'",
    'metadata:',
    '  author: someone',
    'none:',
    'no field',
    '---',
    '',
    '# Body',
    '---',
    'more',
  ].join('\r\n')
  assert.deepEqual(frontmatter(text), {
    fields: {
      name: 'pdf',
      description: 'Use when: a PDF is meant, "not" a PNG. See issue #12',
      single: "it's",
      double: 'a\nb',
      odd: 'a \\d',
      literal: 'one\n  two\n\nthree',
      folded: 'one two\nthree',
      plain: 'begins here and goes on',
      below: 'begins below',
      inline: ['a', 'b'],
      items: ['a', 'b'],
    },
    body: '# Body\r\n---\r\nmore',
  })
})

test('a text without one is all body, and one that does not end is none', () => {
  assert.deepEqual(frontmatter('----\nname: x\n'), { fields: {}, body: '----\nname: x' })
  assert.deepEqual(frontmatter(''), { fields: {}, body: '' })
  assert.deepEqual(frontmatter('---\n---'), { fields: {}, body: '' })
  assert.equal(frontmatter('---\nname: x\nbody'), undefined)
})

test('a line of a YAML writer is read as it was meant, and no text breaks the reader', () => {
  const value = fc.stringMatching(/^[ -~äß]{1,60}$/).filter((text) => text.trim() === text && text !== '')
  fc.assert(
    fc.property(value, (description) => {
      const written = stringify({ description }, { lineWidth: 0 })
      assert.deepEqual(frontmatter(`---\n${written}---\nbody`), { fields: { description }, body: 'body' })
    }),
  )
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void frontmatter(`---\n${text}`)))
})

test('time grows with the text alone', () => {
  const text = `---\n${'a: b\n'.repeat(50_000)}`
  assert.equal(frontmatter(text), undefined)
})
