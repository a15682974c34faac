import type { Step } from '../../src/core/screen/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { pi } from '../../src/profiles/pi.ts'
import { kindOf, means, now, replay } from './replay.ts'

/** What each recorded run means, whole. */
const meanings: Record<string, Step[]> = {
  all: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'bash', input: { command: 'echo ran' } },
    { type: 'result', call: 'call_1', ok: true, text: 'ran\n' },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, cost: 0.000468, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.' } },
  ],
  answer: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'thought', delta: 'They greet.' },
    { type: 'text', delta: 'Hello there.' },
    { type: 'text', delta: '\n' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, cost: 0.000234, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Hello there.' } },
  ],
  'denied-write': [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'write', input: { path: 'new.txt', content: 'new\n' } },
    { type: 'result', call: 'call_1', ok: false, text: 'Tool write not found' },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, cost: 0.000468, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.', denials: ['write: new.txt'] } },
  ],
  denied: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'bash', input: { command: 'echo ran' } },
    { type: 'result', call: 'call_1', ok: false, text: 'Tool bash not found' },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, cost: 0.000468, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.', denials: ['bash: echo ran'] } },
  ],
  drop: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'end', outcome: { ok: false, failure: { kind: 'crash', message: 'terminated' } } },
  ],
  empty: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, cost: 0.000234, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: '' } },
  ],
  key: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'auth',
          message:
            'Incorrect API key provided: made-up. You can find your API key at https://platform.openai.com/account/api-keys.',
        },
      },
    },
  ],
  login: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'end',
      outcome: { ok: false, failure: { kind: 'auth', message: 'No API key found for the selected model.' } },
    },
  ],
  look: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'read', input: { path: 'notes.txt' } },
    { type: 'result', call: 'call_1', ok: true, text: 'the word is plum\n' },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, cost: 0.000468, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.' } },
  ],
  lost: [
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'crash',
          message:
            "pi broke off before its result (exit code 1): No session found matching '00000000-0000-4000-8000-000000000001'",
        },
      },
    },
  ],
  overflow: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'overflow',
          message:
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages.",
        },
      },
    },
  ],
  overloaded: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'busy',
          message: 'That model is currently overloaded with other requests. You can retry your request.',
        },
      },
    },
  ],
  plan: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: { kind: 'quota', message: 'The usage limit has been reached', retryAt: 1794754800000 },
      },
    },
  ],
  quota: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'quota',
          message:
            'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
        },
      },
    },
  ],
  rate: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'busy',
          message:
            'Rate limit reached for mock-model in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more.',
          retryAt: 1794744020000,
        },
      },
    },
  ],
  refusal: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, cost: 0.000234, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: '' } },
  ],
  second: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Plum.' },
    { type: 'text', delta: '\n' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, cost: 0.000234, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Plum.' } },
  ],
  server: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: { kind: 'busy', message: 'The server had an error while processing your request. Sorry about that!' },
      },
    },
  ],
}

test('each recorded run of pi means what it meant', () => means(pi, meanings))

test('its last words in text mode say what went wrong, and those of an answer do not', () => {
  const spent = '429: {"message":"You exceeded your current quota","code":"insufficient_quota"}\n'
  assert.equal(kindOf(pi, { err: spent }), 'quota')
  assert.equal(kindOf(pi, { out: spent }), undefined)
  assert.equal(kindOf(pi, { err: 'Error: Unknown option: --nosuch\n' }), undefined)
})

test('each leash is held by the tools it gets, and what is handed in is quoted', () => {
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
