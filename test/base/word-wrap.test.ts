import { test } from 'node:test'
import assert from 'node:assert/strict'
import { wordWrapped } from '../../src/base/text/word-wrap.ts'

test('long lines are broken between words and keep their indent; short lines and long words stay as they are', () => {
  const text = 'one  two\n  three four five six\na-word-that-is-too-long x'
  assert.equal(wordWrapped(text, 12), 'one  two\n  three four\n  five six\na-word-that-is-too-long\nx')
  for (const columns of [undefined, 0]) assert.equal(wordWrapped(text, columns), text)
})
