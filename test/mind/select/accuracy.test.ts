import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { select } from '../../../src/mind/think/select/select.ts'
import { labelled } from './labelled.ts'

const verdict = (request: string) => {
  const { framework, ambiguous } = select(request)
  return ambiguous ? 'ambiguous' : framework
}

test('the twelve examples of the seed go where it says', () => {
  const golden = labelled('golden')
  assert.equal(golden.length, 12)
  assert.deepEqual(
    golden.map(({ request }) => ({ label: verdict(request), request })),
    golden,
  )
})

test('more than nine of ten requests are routed by words alone, those that were held out too', (t) => {
  const held = ['held-out', 'held-out-everyday'].flatMap(labelled)
  const all = [...['golden', 'tuned'].flatMap(labelled), ...held]
  assert.ok(all.length >= 200)
  assert.ok(accuracy(t, 'held out', held) > 0.9)
  assert.ok(accuracy(t, 'whole', all) > 0.9)
})

function accuracy(t: TestContext, name: string, set: ReturnType<typeof labelled>): number {
  const right = set.filter(({ label, request }) => verdict(request) === label)
  for (const label of new Set(set.map((row) => row.label))) {
    const of = (rows: typeof set) => rows.filter((row) => row.label === label).length
    t.diagnostic(`${name}, ${label}: ${of(right)} of ${of(set)}`)
  }
  t.diagnostic(`${name}: ${right.length} of ${set.length}, ${((100 * right.length) / set.length).toFixed(1)} %`)
  return right.length / set.length
}

test('a choice is sure to a degree and says why', () => {
  assert.deepEqual(select('Why is my build failing?'), {
    framework: 'sequential',
    confidence: 0.9,
    why: 'looking for a cause',
    ambiguous: false,
  })
  assert.deepEqual(select('Wie spät ist es?'), {
    framework: 'direct',
    confidence: 0,
    why: 'in a language that is not known',
    ambiguous: true,
  })
})

test('words are whole words, and what is quoted or a path is not read', () => {
  const traps = [
    ['add a prefix to each line', 'direct'],
    ['what is the best way to delete all my files', 'reflect'],
    ['rename errors.ts to trouble.ts', 'direct'],
    ['commit this with the message "fix the crash in the auth migration"', 'direct'],
    ['add error handling to the importer', 'direct'],
    ['debrief me', 'ambiguous'],
    ['the header should be blue', 'ambiguous'],
    ['the header should be blue, but it is red', 'sequential'],
  ]
  assert.deepEqual(
    traps.map(([request]) => [request, verdict(request!)]),
    traps,
  )
})

test('nothing that is typed breaks it, however long or empty', () => {
  for (const request of ['', '   ', '?', '\0', '```\n', 'a '.repeat(50_000), '.'.repeat(50_000), '-'.repeat(50_000)])
    assert.equal(typeof select(request).confidence, 'number')
})
