import type { Step } from '../../src/core/screen/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { qwen } from '../../src/profiles/qwen.ts'
import { kindOf, means, recorded, replay } from './replay.ts'

/** What each recorded run means, whole. */
const meanings: Record<string, Step[]> = {
  all: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Let me look.' },
    {
      type: 'call',
      call: 'call_1',
      tool: 'run_shell_command',
      input: { command: 'echo ran', description: 'says ran', is_background: false },
    },
    { type: 'result', call: 'call_1', ok: true, text: 'ran' },
    { type: 'text', delta: 'Done.' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Done.' } },
  ],
  answer: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'thought', delta: 'They greet.' },
    { type: 'text', delta: 'Hello there.' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Hello there.' } },
  ],
  denied: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Let me look.' },
    {
      type: 'call',
      call: 'call_1',
      tool: 'run_shell_command',
      input: { command: 'echo ran', description: 'says ran', is_background: false },
    },
    {
      type: 'result',
      call: 'call_1',
      ok: false,
      text: 'Qwen Code requires permission to use "run_shell_command", but that permission was declined. Matching deny rule: "run_shell_command".',
    },
    { type: 'text', delta: 'Done.' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Done.', denials: ['run_shell_command: echo ran'] } },
  ],
  drop: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: 'Half an ans' },
    { type: 'text', delta: '[API Error: terminated (cause: UND_ERR_SOCKET: other side closed)]' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: { kind: 'crash', message: '[API Error: terminated (cause: UND_ERR_SOCKET: other side closed)]' },
      },
    },
  ],
  edit: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Let me look.' },
    {
      type: 'call',
      call: 'call_1',
      tool: 'write_file',
      input: { file_path: '/rig/project/new.txt', content: 'new\n' },
    },
    {
      type: 'result',
      call: 'call_1',
      ok: true,
      text: 'Successfully created and wrote to new file: /rig/project/new.txt.',
    },
    { type: 'text', delta: 'Done.' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Done.' } },
  ],
  empty: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: '[API Error: Model stream ended with empty response text.]' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: { kind: 'crash', message: '[API Error: Model stream ended with empty response text.]' },
      },
    },
  ],
  key: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'text',
      delta:
        '[API Error: 401 Incorrect API key provided: made-up. You can find your API key at https://platform.openai.com/account/api-keys.]',
    },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'auth',
          message:
            '[API Error: 401 Incorrect API key provided: made-up. You can find your API key at https://platform.openai.com/account/api-keys.]',
        },
      },
    },
  ],
  login: [
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'auth',
          message:
            'No auth type is selected. Please configure an auth type (e.g. via settings or `--auth-type`) before running in non-interactive mode.',
        },
      },
    },
  ],
  look: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Let me look.' },
    { type: 'call', call: 'call_1', tool: 'read_file', input: { file_path: '/rig/project/notes.txt' } },
    { type: 'result', call: 'call_1', ok: true, text: 'the word is plum\n' },
    { type: 'text', delta: 'Done.' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Done.' } },
  ],
  lost: [
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'crash',
          message:
            'qwen broke off before its result (exit code 1): No saved session found with ID 00000000-0000-4000-8000-000000000001. Run `qwen --resume` without an ID to choose from existing sessions.',
        },
      },
    },
  ],
  overflow: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'text',
      delta:
        "[API Error: 400 This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages.]",
    },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'overflow',
          message:
            "[API Error: 400 This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages.]",
        },
      },
    },
  ],
  plan: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'text',
      delta:
        '[API Error: 429 The usage limit has been reached]\nPossible quota limitations in place or slow response times detected. Please wait and try again later.',
    },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'quota',
          message:
            '[API Error: 429 The usage limit has been reached]\nPossible quota limitations in place or slow response times detected. Please wait and try again later.',
        },
      },
    },
  ],
  quota: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'text',
      delta:
        '[API Error: 429 You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.]\nPossible quota limitations in place or slow response times detected. Please wait and try again later.',
    },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'quota',
          message:
            '[API Error: 429 You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.]\nPossible quota limitations in place or slow response times detected. Please wait and try again later.',
        },
      },
    },
  ],
  rate: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'text',
      delta:
        '[API Error: 429 Rate limit reached for mock-model in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more.]\nPossible quota limitations in place or slow response times detected. Please wait and try again later.',
    },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'busy',
          message:
            '[API Error: 429 Rate limit reached for mock-model in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more.]\nPossible quota limitations in place or slow response times detected. Please wait and try again later.',
          retryAt: 1794744020000,
        },
      },
    },
  ],
  second: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    { type: 'text', delta: 'Plum.' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Plum.' } },
  ],
  server: [
    { type: 'thread', key: '00000000-0000-4000-8000-000000000001' },
    {
      type: 'text',
      delta: '[API Error: 500 The server had an error while processing your request. Sorry about that!]',
    },
    {
      type: 'end',
      outcome: {
        ok: false,
        failure: {
          kind: 'busy',
          message: '[API Error: 500 The server had an error while processing your request. Sorry about that!]',
        },
      },
    },
  ],
}

test('each recorded run of Qwen Code means what it meant', () => means(qwen, meanings))

test('its last words in text mode say what went wrong, and those of an answer do not', () => {
  assert.equal(
    kindOf(qwen, { err: 'Ripgrep not available\n[API Error: 429 Free allocated quota exceeded.]\n' }),
    'quota',
  )
  assert.equal(kindOf(qwen, { err: 'No auth type is selected. Please configure an auth type\n' }), 'auth')
  assert.equal(kindOf(qwen, { out: '[API Error: 429 Free allocated quota exceeded.]\n' }), undefined)
})

test('each leash is an approval mode, and what is handed in is quoted', () => {
  const started = 'qwen --output-format stream-json --include-partial-messages --approval-mode'
  const unasked = 'enter_worktree,exit_worktree,cron_create,cron_delete,record_artifact'
  assert.deepEqual(
    leashes.map((leash) => qwen.command({ leash })),
    [
      `${started} plan --exclude-tools run_shell_command,edit,write_file,notebook_edit,agent,${unasked}`,
      `${started} default --exclude-tools ${unasked}`,
      `${started} auto-edit --exclude-tools ${unasked}`,
      `${started} yolo`,
    ],
  )
  assert.equal(qwen.command({ leash: 'all', resume: 'a b', model: 'm' }), `${started} yolo --model m --resume 'a b'`)
})

test('without partial messages the text is shown once, when it is whole', () => {
  const { ended } = recorded('qwen').answer!
  const out = ended.out
    .split('\n')
    .filter((line) => !line.includes('"stream_event"'))
    .join('\n')
  assert.deepEqual(replay(qwen, { args: '', ended: { ...ended, out } }), meanings.answer)
})
