import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const mostWords = 120

test('the glossary has few enough words to be read, and one meaning for each', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'CONTEXT.md'), 'utf8')
  const rows = [...text.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]*)\|$/gm)].filter(([, word]) => word !== 'word')
  const words = rows.flatMap(([, word, meaning]) => [
    word!,
    ...[...meaning!.matchAll(/\*\*(.+?)\*\*/g)].map((bold) => bold[1]!),
  ])
  assert.ok(rows.length > 0)
  assert.ok(words.length <= mostWords, `${words.length} words`)
  const repeated = words.filter((word, index) => words.indexOf(word) !== index)
  assert.deepEqual(repeated, [])
})
