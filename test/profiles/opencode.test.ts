import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { opencode } from '../../src/profiles/opencode.ts'
import { failed, kindOf, now, recorded, replay } from './replay.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('the last words of opencode in text mode say what went wrong, and those of an answer do not', () => {
  assert.equal(kindOf(opencode, { err: '> build · mock\n\nError: Incorrect API key provided: x\n' }), 'auth')
  assert.equal(kindOf(opencode, { err: 'Error: Free usage exceeded, subscribe to Go\n' }), 'quota')
  assert.equal(kindOf(opencode, { out: 'Error: Free usage exceeded, subscribe to Go\n' }), undefined)
  assert.equal(kindOf(opencode, { err: 'Error: 429\n', code: 0 }), undefined)
})

test('each leash is held by its own permissions, and handed-in values are quoted', (t) => {
  golden(
    t,
    leashes.map((leash) => opencode.command({ leash })),
  )
  golden(t, opencode.command({ leash: 'all', resume: "a'b", model: 'x/y z' }))
})

test('a limit of opencode’s own is told from one that passes, whatever the sentence', () => {
  const data = {
    message: 'Rate limit exceeded. Please try again later.',
    statusCode: 429,
    responseBody: '{"type":"error","error":{"type":"FreeUsageLimitError"}}',
  }
  const line = JSON.stringify({ type: 'error', sessionID: 'ses_1', error: { name: 'APIError', data } })
  assert.deepEqual(replay(opencode, { args: '', ended: { out: line, err: '', code: 1, now } }), [
    { type: 'thread', key: 'ses_1' },
    failed('quota', 'Rate limit exceeded. Please try again later.'),
  ])
})

test('a run that ended in the middle of a turn has no answer', (t) => {
  const whole = recorded('opencode').look!.ended
  const out = whole.out.split('\n').slice(0, 3).join('\n')
  const last = replay(opencode, { args: '', ended: { out, err: '', signal: 'SIGKILL', now } }).at(-1)
  golden(t, last)
})
