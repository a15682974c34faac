import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { copilot } from '../../src/profiles/copilot/copilot.ts'
import { kindOf, now } from './replay.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('the last words of Copilot in text mode say what went wrong, and those of an answer do not', () => {
  const limit =
    "✗ Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in 58 hours."
  assert.deepEqual(copilot.failure({ out: '', err: `${limit}\n`, code: 1, now }), {
    kind: 'quota',
    message: limit,
    retryAt: now + 58 * 3_600_000,
  })
  assert.equal(kindOf(copilot, { out: limit }), undefined)
  assert.equal(kindOf(copilot, { err: limit, code: 0 }), undefined)
})

test('each leash is held by its own flags, and handed-in values are quoted', (t) => {
  golden(
    t,
    leashes.map((leash) => copilot.command({ leash })),
  )
  golden(t, copilot.command({ leash: 'ask', resume: 'a b+1.1.1', model: 'm' }))
})
