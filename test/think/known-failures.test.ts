import { test } from 'node:test'
import assert from 'node:assert/strict'
import { isWorse } from '../../src/think/known-failures.ts'

/** The outputs of a check before and after the work, each with exit 1 where nothing else is said, and whether it got worse. */
const runs: [string, string, string, boolean][] = [
  ['the same failure, with other times', '✖ old (3.1ms)\nℹ fail 1', '✖ old (4ms)\nℹ fail 1', false],
  ['one more failure', '✖ old (3ms)\nℹ fail 1', '✖ old (3ms)\n✖ new (1ms)\nℹ fail 2', true],
  ['another failure instead', 'not ok 3 - old\n# fail 1', 'not ok 1 - new\n# fail 1', true],
  ['one failure less', '✖ old\n✖ older\nℹ fail 2', '✖ old\nℹ fail 1', false],
  ['a test that moved in its file', 'FAIL a.test.ts:12:3', 'FAIL a.test.ts:14:3', false],
  ['a compiler, at another line', 'src/a.ts(3,17): error TS2304: x', 'src/a.ts(9,17): error TS2304: x', false],
  [
    'the same fault of a compiler once more',
    'src/a.ts(3,1): error TS1: x',
    'src/a.ts(3,1): error TS1: x\nsrc/a.ts(4,1): error TS1: x',
    true,
  ],
  ['a summary alone, no higher', '1 failing', '1 failing', false],
  ['a summary alone, higher', '1 failed, 4 passed in 0.12s', '2 failed, 3 passed in 0.10s', true],
  [
    'pytest, the same',
    'FAILED tests/test_a.py::test_b - assert 1\n1 failed in 0.12s',
    'FAILED tests/test_a.py::test_b - assert 1\n1 failed in 3.4s',
    false,
  ],
  ['go, another one', '--- FAIL: TestA (0.00s)\nFAIL', '--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL', true],
  ['it broke before any test ran', '✖ old\nℹ fail 1', 'sh: 1: tsc: not found', true],
  ['nothing is named, the same exit', 'it is broken', 'it is broken in another way', false],
  ['colours', '\u001b[31m✖ old\u001b[39m', '✖ old', false],
]

for (const [name, before, after, worse] of runs)
  test(`a check that failed before is ${worse ? '' : 'not '}worse: ${name}`, () => {
    assert.equal(isWorse({ exit: 1, text: before }, { exit: 1, text: after }), worse)
  })

test('without words of their own, two runs are compared by how they ended', () => {
  const text = 'it is broken'
  assert.deepEqual(
    [isWorse({ exit: 1, text }, { exit: 2, text }), isWorse({ exit: 1, text }, { text }), isWorse({ text }, { text })],
    [true, true, false],
  )
})
