import type { Step } from '../../src/core/screen/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { opencode } from '../../src/profiles/opencode.ts'
import { failed, kindOf, means, now, recorded, replay } from './replay.ts'

/** What each recorded run means, whole. */
const meanings: Record<string, Step[]> = {
  all: [
    { type: 'thread', key: 'ses_1' },
    { type: 'text', delta: 'Let me look.\n' },
    { type: 'call', call: 'call_2', tool: 'bash', input: { command: 'echo ran', description: 'says ran' } },
    { type: 'result', call: 'call_2', ok: true, text: 'ran\n' },
    { type: 'text', delta: 'Done.\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.' } },
  ],
  answer: [
    { type: 'thread', key: 'ses_1' },
    { type: 'text', delta: 'Hello there.\n' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Hello there.' } },
  ],
  'denied-write': [
    { type: 'thread', key: 'ses_1' },
    { type: 'text', delta: 'Let me look.\n' },
    { type: 'call', call: 'call_2', tool: 'write', input: { filePath: '/rig/project/new.txt', content: 'new\n' } },
    { type: 'result', call: 'call_2', ok: false, text: 'The user rejected permission to use this specific tool call.' },
    { type: 'text', delta: 'Done.\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.', denials: ['write: /rig/project/new.txt'] } },
  ],
  denied: [
    { type: 'thread', key: 'ses_1' },
    { type: 'text', delta: 'Let me look.\n' },
    { type: 'call', call: 'call_2', tool: 'bash', input: { command: 'echo ran', description: 'says ran' } },
    { type: 'result', call: 'call_2', ok: false, text: 'The user rejected permission to use this specific tool call.' },
    { type: 'text', delta: 'Done.\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.', denials: ['bash: echo ran'] } },
  ],
  edit: [
    { type: 'thread', key: 'ses_1' },
    { type: 'text', delta: 'Let me look.\n' },
    { type: 'call', call: 'call_2', tool: 'write', input: { filePath: '/rig/project/new.txt', content: 'new\n' } },
    { type: 'result', call: 'call_2', ok: true, text: 'Wrote file successfully.' },
    { type: 'text', delta: 'Done.\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.' } },
  ],
  empty: [
    { type: 'thread', key: 'ses_1' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: '' } },
  ],
  key: [
    { type: 'thread', key: 'ses_1' },
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
  leashed: [
    { type: 'thread', key: 'ses_1' },
    { type: 'call', call: 'call_2', tool: 'bash', input: { command: 'echo ran', description: 'says ran' } },
    {
      type: 'result',
      call: 'call_2',
      ok: false,
      text: "Model tried to call unavailable tool 'invalid'. Available tools: glob, grep, read, todowrite, webfetch.",
    },
    { type: 'text', delta: 'Let me look.\n' },
    { type: 'text', delta: 'Done.\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.' } },
  ],
  look: [
    { type: 'thread', key: 'ses_1' },
    { type: 'text', delta: 'Let me look.\n' },
    { type: 'call', call: 'call_2', tool: 'read', input: { filePath: '/rig/project/notes.txt' } },
    {
      type: 'result',
      call: 'call_2',
      ok: true,
      text: '<path>/rig/project/notes.txt</path>\n<type>file</type>\n<content>\n1: the word is plum\n\n(End of file - total 1 lines)\n</content>',
    },
    { type: 'text', delta: 'Done.\n' },
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
          message: 'opencode broke off before its result (exit code 1): Error: Session not found',
        },
      },
    },
  ],
  outside: [
    { type: 'thread', key: 'ses_1' },
    { type: 'text', delta: 'Let me look.\n' },
    { type: 'call', call: 'call_2', tool: 'read', input: { filePath: '/etc/hostname' } },
    { type: 'result', call: 'call_2', ok: false, text: 'The user rejected permission to use this specific tool call.' },
    { type: 'text', delta: 'Done.\n' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Let me look.\n\nDone.', denials: ['read: /etc/hostname'] } },
  ],
  overflow: [
    { type: 'thread', key: 'ses_1' },
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
  second: [
    { type: 'thread', key: 'ses_1' },
    { type: 'text', delta: 'Plum.\n' },
    { type: 'usage', input: 1200, output: 34, cached: 1000, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Plum.' } },
  ],
}

test('each recorded run of OpenCode means what it meant', () => means(opencode, meanings))

test('its last words in text mode say what went wrong, and those of an answer do not', () => {
  assert.equal(kindOf(opencode, { err: '> build · mock\n\nError: Incorrect API key provided: x\n' }), 'auth')
  assert.equal(kindOf(opencode, { err: 'Error: Free usage exceeded, subscribe to Go\n' }), 'quota')
  assert.equal(kindOf(opencode, { out: 'Error: Free usage exceeded, subscribe to Go\n' }), undefined)
  assert.equal(kindOf(opencode, { err: 'Error: 429\n', code: 0 }), undefined)
})

test('each leash is held by its own permissions, and what is handed in is quoted', () => {
  const looking = { read: 'allow', glob: 'allow', grep: 'allow', list: 'allow', webfetch: 'allow', todowrite: 'allow' }
  const config = (permission: object) =>
    `OPENCODE_CONFIG_CONTENT='${JSON.stringify({ permission, experimental: { continue_loop_on_deny: true } })}' opencode run --format json`
  assert.deepEqual(
    leashes.map((leash) => opencode.command({ leash })),
    [
      config({ '*': 'deny', ...looking, edit: 'deny', bash: 'deny', task: 'deny', external_directory: 'deny' }),
      config({ '*': 'ask', ...looking, edit: 'ask', bash: 'ask', task: 'ask', external_directory: 'ask' }),
      config({ '*': 'ask', ...looking, edit: 'allow', bash: 'ask', task: 'ask', external_directory: 'ask' }),
      'opencode run --format json --auto',
    ],
  )
  assert.equal(
    opencode.command({ leash: 'all', resume: "a'b", model: 'x/y z' }),
    `opencode run --format json --auto --model 'x/y z' --session 'a'\\''b'`,
  )
})

test('a limit of its own is told from one that passes, whatever the sentence', () => {
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

test('half a turn is no answer', () => {
  const whole = recorded('opencode').look!.ended
  const out = whole.out.split('\n').slice(0, 3).join('\n')
  const last = replay(opencode, { args: '', ended: { out, err: '', signal: 'SIGKILL', now } }).at(-1)
  assert.deepEqual(last, failed('crash', 'opencode broke off before its result (ended by SIGKILL)'))
})
