import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { pi } from '../../src/profiles/pi.ts'
import { kindOf, now, replay } from './replay.ts'

test('the last words of pi in text mode say what went wrong, and those of an answer do not', () => {
  const spent = '429: {"message":"You exceeded your current quota","code":"insufficient_quota"}\n'
  assert.equal(kindOf(pi, { err: spent }), 'quota')
  assert.equal(kindOf(pi, { out: spent }), undefined)
  assert.equal(kindOf(pi, { err: 'Error: Unknown option: --nosuch\n' }), undefined)
})

test('each leash is held by the tools it gets, and handed-in values are quoted', () => {
  const looking = 'pi -p --mode json --tools read,grep,find,ls'
  assert.deepEqual(
    leashes.map((leash) => pi.command({ leash })),
    [looking, looking, looking, 'pi -p --mode json'],
  )
  assert.equal(
    pi.command({ leash: 'all', resume: 'a b', model: 'x/y' }),
    "pi -p --mode json --model x/y --session 'a b'",
  )
})

test('an error that a retry rode over is no failure, and its half answer is no part of the answer', () => {
  const say = (message: object) => JSON.stringify({ type: 'message_end', message: { role: 'assistant', ...message } })
  const out = [
    say({ content: [{ type: 'text', text: 'Half an' }], stopReason: 'error', errorMessage: '529: Overloaded' }),
    say({ content: [{ type: 'text', text: 'Here.' }], stopReason: 'stop' }),
  ].join('\n')
  assert.deepEqual(replay(pi, { args: '', ended: { out, err: '', code: 0, now } }), [
    { type: 'end', outcome: { ok: true, text: 'Here.' } },
  ])
})
