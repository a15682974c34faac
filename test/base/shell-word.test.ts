import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fc from '../cases.ts'
import { quotedWord, shellWord } from '../../src/base/text/shell-word.ts'

test('words reach a program through bash as they were', () => {
  const words = fc
    .sample(fc.string({ unit: 'binary', maxLength: 40 }), { numRuns: 300, seed: 7 })
    .map((word) => Buffer.from(word.replaceAll('\0', '')).toString())
  for (const quote of [shellWord, quotedWord]) {
    const run = spawnSync('bash', ['-c', `printf '%s\\0' ${words.map(quote).join(' ')}`], { encoding: 'utf8' })
    assert.deepEqual(run.stdout.split('\0').slice(0, -1), words)
  }
})

test('only a word that a shell would read differently has to be quoted', () => {
  const words = ['a-b_c', '/x/y.ts:1,2@3%+=', '', 'a b', "it's", '$HOME', '~', '*']
  assert.deepEqual(words.map(shellWord), [
    'a-b_c',
    '/x/y.ts:1,2@3%+=',
    "''",
    "'a b'",
    "'it'\\''s'",
    "'$HOME'",
    "'~'",
    "'*'",
  ])
  assert.equal(quotedWord('a-b_c'), "'a-b_c'")
})
