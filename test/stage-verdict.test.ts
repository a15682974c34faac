import type { TestResult } from '../scripts/run-tests.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { stageFailed, unknownSkips, unmetSkips, unseenParts } from '../scripts/stage-verdict.ts'

const one: TestResult = { file: 'a.test.ts', name: 'one', outcome: 'passed' }
const skipped = (why: string): TestResult => ({ ...one, outcome: 'skipped', why })
const report = (...tests: TestResult[]) => ({ seconds: 1, tests })

test('a stage fails where a file stays broken, where it failed without saying which one, and where it told of no test', () => {
  assert.equal(stageFailed(0, report(one), [], []), false)
  assert.equal(stageFailed(1, report(one), ['a.test.ts'], ['a.test.ts']), false)
  assert.equal(stageFailed(1, report(one), ['a.test.ts', 'b.test.ts'], ['a.test.ts']), true)
  assert.equal(stageFailed(0, report(one), ['a.test.ts'], []), true)
  assert.equal(stageFailed(1, report(one), [], []), true)
  assert.equal(stageFailed(0, report(), [], []), true)
})

test('a test that passed in no stage is named in the list, with a reason that it gave', () => {
  const allowed = { FULL: { why: 'long', tests: ['a.test.ts › one'] } }
  assert.deepEqual(unknownSkips([skipped('no browser'), one], {}), [])
  assert.deepEqual(unknownSkips([skipped('no browser'), skipped('long')], allowed), [])
  assert.deepEqual(unknownSkips([skipped('no browser')], allowed), ['a.test.ts › one: no browser'])
  assert.deepEqual(unknownSkips([skipped('long')], {}), ['a.test.ts › one: long'])
})

test('a test that is named in the list and met in no stage is found', () => {
  const allowed = { FULL: { why: 'long', tests: ['a.test.ts › one', 'a.test.ts › gone'] } }
  assert.deepEqual(unmetSkips([skipped('long')], allowed), ['a.test.ts › gone'])
})

test('a part of a golden file that no test compared is found, unless its test may be skipped everywhere', () => {
  const allowed = { FULL: { why: 'long', tests: ['test/cli/a.test.ts › long one'] } }
  const parts = ['cli/a.txt: one', 'cli/a.txt: one (2)', 'cli/a.txt: long one', 'cli/a.txt: long one (2)']
  assert.deepEqual(unseenParts(parts, ['cli/a.txt: one', ''], allowed), ['cli/a.txt: one (2)'])
})
