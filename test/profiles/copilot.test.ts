import type { Step } from '../../src/core/screen/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { copilot } from '../../src/profiles/copilot.ts'
import { kindOf, means, now, recorded, replay } from './replay.ts'

/** What each recorded run means, whole. */
const meanings: Record<string, Step[]> = {
  all: [
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'bash', input: { command: 'touch ran', description: 'makes a file' } },
    { type: 'result', call: 'call_1', ok: true, text: '\n<shellId: 0 completed with exit code 0>' },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'thread', key: '00000000-0000-4000-8000-000000000059+2400.2000.68' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.' } },
  ],
  answer: [
    { type: 'thought', delta: 'They greet.' },
    { type: 'text', delta: 'Hello there.' },
    { type: 'text', delta: '\n' },
    { type: 'thread', key: '00000000-0000-4000-8000-000000000024+1200.1000.34' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Hello there.' } },
  ],
  denied: [
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'bash', input: { command: 'touch ran', description: 'makes a file' } },
    {
      type: 'result',
      call: 'call_1',
      ok: false,
      text: 'Permission denied because no interactive user response was available. Retry in an interactive session so the user can approve it, or try an alternative that does not require this permission.',
    },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'thread', key: '00000000-0000-4000-8000-000000000043+2400.2000.68' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.', denials: ['bash: touch ran'] } },
  ],
  drop: [
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'thread', key: '00000000-0000-4000-8000-000000000061' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'crash',
          message:
            'Failed to get response from the AI model; retried 5 times (total retry wait time: 56.90 seconds) Last error: Failed native model HTTP request: error decoding response body: error reading a body from connection: unexpected EOF during chunk size line',
        },
      },
    },
  ],
  edit: [
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'create', input: { path: '/rig/project/new.txt', file_text: 'new\n' } },
    { type: 'result', call: 'call_1', ok: true, text: 'Created file /rig/project/new.txt with 4 characters' },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'thread', key: '00000000-0000-4000-8000-000000000035+2400.2000.68' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.' } },
  ],
  empty: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000020+1200.1000.34' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: { kind: 'crash', message: 'No response was returned. Send your message again to retry.' },
      },
    },
  ],
  key: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000028' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'auth',
          message:
            'Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401).\n  Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.',
        },
      },
    },
  ],
  leashed: [
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'bash', input: { command: 'touch ran', description: 'makes a file' } },
    {
      type: 'result',
      call: 'call_1',
      ok: false,
      text: 'Permission to run this tool was denied due to the following rules: `shell`',
    },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'thread', key: '00000000-0000-4000-8000-000000000042+2400.2000.68' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.', denials: ['bash: touch ran'] } },
  ],
  login: [
    {
      type: 'end',
      outcome: { ok: false, failure: { kind: 'auth', message: 'Error: No authentication information found.' } },
    },
  ],
  look: [
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'view', input: { path: '/rig/project/notes.txt' } },
    { type: 'result', call: 'call_1', ok: true, text: 'the word is plum\n' },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'thread', key: '00000000-0000-4000-8000-000000000034+2400.2000.68' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
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
            'copilot broke off before its result (exit code 1): To start a new session with ID:   copilot --session-id=<valid-uuid>',
        },
      },
    },
  ],
  outside: [
    { type: 'text', delta: 'Let me look.' },
    { type: 'text', delta: '\n' },
    { type: 'call', call: 'call_1', tool: 'view', input: { path: '/etc/hostname' } },
    {
      type: 'result',
      call: 'call_1',
      ok: false,
      text: 'Permission denied because no interactive user response was available. Retry in an interactive session so the user can approve it, or try an alternative that does not require this permission.',
    },
    { type: 'text', delta: 'Done.' },
    { type: 'text', delta: '\n' },
    { type: 'thread', key: '00000000-0000-4000-8000-000000000035+2400.2000.68' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.', denials: ['view: /etc/hostname'] } },
  ],
  overflow: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000018' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'overflow',
          message:
            "400 This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages.",
        },
      },
    },
  ],
  overloaded: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000043' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'busy',
          message:
            'Failed to get response from the AI model; retried 5 times (total retry wait time: 56.90 seconds) Last error: 503 That model is currently overloaded with other requests. You can retry your request.',
        },
      },
    },
  ],
  quota: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000038' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'quota',
          message:
            'Failed to get response from the AI model; retried 5 times (total retry wait time: 56.90 seconds) Last error: 429 You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
        },
      },
    },
  ],
  rate: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000038' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'busy',
          message:
            'Failed to get response from the AI model; retried 5 times (total retry wait time: 56.90 seconds) Last error: 429 Rate limit reached for mock-model in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more.',
          retryAt: 1794744020000,
        },
      },
    },
  ],
  second: [
    { type: 'text', delta: 'Plum.' },
    { type: 'text', delta: '\n' },
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001+2400.2000.68' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Plum.' } },
  ],
  server: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000043' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'busy',
          message:
            'Failed to get response from the AI model; retried 5 times (total retry wait time: 56.90 seconds) Last error: 500 The server had an error while processing your request. Sorry about that!',
        },
      },
    },
  ],
}

test('each recorded run of Copilot means what it meant', () => means(copilot, meanings))

test('its last words in text mode say what went wrong, and those of an answer do not', () => {
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

test('each leash is held by its own flags, and what is handed in is quoted', () => {
  const run = (flags: string) =>
    `usage=$(mktemp); trap 'rm -f "$usage"' EXIT; copilot --output-format json --no-color --no-ask-user${flags} --usage-output-file "$usage"; code=$?; [ -s "$usage" ] && { tr -d '\\n' <"$usage"; echo; }; exit $code`
  assert.deepEqual(
    leashes.map((leash) => copilot.command({ leash })),
    [run(' --deny-tool=write --deny-tool=shell'), run(''), run(' --allow-tool=write'), run(' --allow-all')],
  )
  assert.equal(copilot.command({ leash: 'ask', resume: 'a b+1.1.1', model: 'm' }), run(" --model m --resume='a b'"))
})

test('a resumed thread is charged with what came since', () => {
  const steps = replay(copilot, recorded('copilot').second!, 'any+1200.1000.34')
  assert.deepEqual(
    steps.filter(({ type }) => type === 'usage'),
    [{ type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' }],
  )
})
