import type { Finding } from '../../../src/think/sequential/diagnosis.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { UntestedHypotheses } from '../../../src/think/sequential/hypotheses.ts'

const one = (cause: string, diagnostic = `look at ${cause}`) => ({ cause, diagnostic, why: '', expects: '' })

const found = (cause: string, verdict: Finding['verdict'], ...more: ReturnType<typeof one>[]): Finding => {
  const hypothesis = one(cause)
  return { hypothesis, observation: { command: hypothesis.diagnostic, how: '' }, verdict, why: '', more }
}

/** The hypotheses that are tested, where each is decided by its name. */
function tested(named: string[], decide: (cause: string) => Finding): string[] {
  const untested = new UntestedHypotheses(named.map((cause) => one(cause)))
  const findings: Finding[] = []
  const looks: string[] = []
  for (let next = untested.next(); next; next = untested.next()) {
    looks.push(next.diagnostic)
    findings.push(decide(next.cause))
    untested.learn(findings)
  }
  return looks
}

test('no hypothesis is tested twice', () => {
  assert.deepEqual(
    tested(['a', 'a', 'b'], (cause) => found(cause, 'unclear', one('a'), one('b'))),
    ['look at a', 'look at b'],
  )
})

test('a cause that was ruled out does not come back, however it is spelt or looked for', () => {
  const twins = [one('The Port is taken.', 'ss'), one('the port  is taken', 'lsof')]
  assert.deepEqual(
    tested(['the port is taken', 'THE PORT IS TAKEN', 'b'], (cause) => found(cause, 'rejected', ...twins)),
    ['look at the port is taken', 'look at b'],
  )
})

test('an unclear hypothesis may be tested in another way, before all others', () => {
  assert.deepEqual(
    tested(['a', 'b'], (cause) => found(cause, cause === 'a' ? 'unclear' : 'rejected', one('a', 'another look'))),
    ['look at a', 'another look', 'look at b'],
  )
})

test('only unclear hypotheses in a row end the search', () => {
  const unclear = new Set(['a', 'b', 'd', 'e', 'f'])
  assert.deepEqual(
    tested([...'abcdefg'], (cause) => found(cause, unclear.has(cause) ? 'unclear' : 'rejected')),
    ['look at a', 'look at b', 'look at c', 'look at d', 'look at e', 'look at f'],
  )
})
