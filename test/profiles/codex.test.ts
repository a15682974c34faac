import type { Step } from '../../src/core/screen/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { codex } from '../../src/profiles/codex.ts'
import { failed, key, kindOf } from './replay.ts'

test('a usage limit ends at a time of this machine', () => {
  const message = 'You’ve hit your usage limit. Try again at 3:00 PM.'
  const ended = { out: '', err: `ERROR: ${message}`, code: 1, now: Date.parse('2026-11-15T12:00:00Z') }
  const read = (zone: string) => {
    process.env.TZ = zone
    return codex.failure(ended)?.retryAt
  }
  const before = process.env.TZ
  assert.deepEqual(
    ['UTC', 'Europe/Athens', 'America/New_York'].map(read),
    ['2026-11-15T15:00:00Z', '2026-11-15T13:00:00Z', '2026-11-15T20:00:00Z'].map((moment) => Date.parse(moment)),
  )
  process.env.TZ = before
})

test('the other tools are calls with their results', () => {
  const dialect = codex.dialect!()
  const done = (item: object) => dialect.line(JSON.stringify({ type: 'item.completed', item }))
  const call = (id: string, tool: string, input: object, ok: boolean, text: string): Step[] => [
    { type: 'call', call: `/${id}`, tool, input },
    { type: 'result', call: `/${id}`, ok, text },
  ]
  assert.deepEqual(
    [
      done({ id: '1', type: 'web_search', query: 'nodes' }),
      done({
        id: '2',
        type: 'mcp_tool_call',
        server: 'docs',
        tool: 'find',
        arguments: { q: 'x' },
        result: { content: [{ type: 'text', text: 'found' }] },
        status: 'completed',
      }),
      done({
        id: '3',
        type: 'mcp_tool_call',
        server: 'docs',
        tool: 'find',
        arguments: {},
        error: { message: 'no' },
        status: 'failed',
      }),
      done({
        id: '4',
        type: 'command_execution',
        command: 'ls x',
        aggregated_output: 'none\n',
        exit_code: 2,
        status: 'failed',
      }),
      done({ id: '5', type: 'todo_list', items: [] }),
    ],
    [
      call('1', 'web_search', { query: 'nodes' }, true, ''),
      call('2', 'docs.find', { q: 'x' }, true, 'found'),
      call('3', 'docs.find', {}, false, 'no'),
      call('4', 'shell', { command: 'ls x' }, false, 'none\n'),
      [],
    ],
  )
})

test('a reconnect on the way is no failure, and a run that breaks off says how', () => {
  const dialect = codex.dialect!()
  assert.deepEqual(dialect.line('{"type":"error","message":"Reconnecting... 1/5"}'), [])
  dialect.line('{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Done."}}')
  dialect.line('{"type":"turn.completed","usage":{"input_tokens":7,"cached_input_tokens":0,"output_tokens":3}}')
  assert.deepEqual(dialect.end({ out: '', err: '', code: 0, now: 0 }), [
    { type: 'usage', input: 7, output: 3, cached: 0, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Done.' } },
  ])
  assert.deepEqual(codex.dialect!().end({ out: '', err: 'panicked\n', code: 101, now: 0 }), [
    failed('crash', 'codex broke off before its result (exit code 101): panicked'),
  ])
  assert.throws(() => dialect.line('thread panicked'))
})

test('its last words in text mode say what went wrong, and those of an answer do not', () => {
  const said = {
    'ERROR: Quota exceeded. Check your plan and billing details.': 'quota',
    'ERROR: You’ve hit your usage limit. Try again at 3:00 PM.': 'quota',
    'ERROR: exceeded retry limit, last status: 429 Too Many Requests': 'busy',
    'ERROR: unexpected status 401 Unauthorized: Incorrect API key provided': 'auth',
    'ERROR: Missing environment variable: `OPENAI_API_KEY`.': 'auth',
    'The quota was exceeded, says the log; unexpected status 429.': undefined,
  }
  assert.deepEqual(Object.fromEntries(Object.keys(said).map((err) => [err, kindOf(codex, { err })])), said)
  assert.equal(kindOf(codex, { out: 'Quota exceeded. Check your plan and billing details.' }), undefined)
  assert.equal(kindOf(codex, { code: 0, err: 'ERROR: Quota exceeded. Check your plan.' }), undefined)
})

test('each leash is held by its own flags, and a thread is resumed by its id alone', () => {
  const plain = 'codex exec --json --skip-git-repo-check'
  assert.deepEqual(
    [
      codex.command({ leash: 'read' }),
      codex.command({ leash: 'ask', model: 'gpt 6' }),
      codex.command({ leash: 'edit', resume: `${key}+1200.1000.34` }),
      codex.command({ leash: 'all', resume: '$(rm)' }),
    ],
    [
      `${plain} -s read-only -`,
      `${plain} -s read-only -m 'gpt 6' -`,
      `${plain} -s workspace-write resume ${key} -`,
      `${plain} --dangerously-bypass-approvals-and-sandbox resume '$(rm)' -`,
    ],
  )
})
