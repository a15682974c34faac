import { test } from 'node:test'
import assert from 'node:assert/strict'
import { slips } from '../../src/base/text/nearest.ts'

test('each typing slip counts once', () => {
  const words: [string, string, number][] = [
    ['undo', 'undo', 0],
    ['udno', 'undo', 1],
    ['uno', 'undo', 1],
    ['unddo', 'undo', 1],
    ['unso', 'undo', 1],
    ['udnoo', 'undo', 2],
    ['', 'ps', 2],
    ['ps', '', 2],
    ['do', 'demo', 2],
  ]
  assert.deepEqual(
    words.map(([a, b]) => slips(a, b)),
    words.map(([, , far]) => far),
  )
})
