import type { Step } from '../../src/core/profile/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { codex } from '../../src/profiles/codex/codex.ts'
import { meanings, recorded, replay } from './replay.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

// Some of its messages tell a time of the machine it runs on.
process.env.TZ = 'UTC'

const exec = () => codex.dialect!({ command: 'codex exec --json' })

test('each recorded run of codex exec has its meaning', () => {
  const expected = meanings('codex-exec')
  const first = expected.answer?.findLast((step) => step.type === 'thread')?.key
  const runs = Object.entries(recorded('codex-exec')).map(([name, run]) => [
    name,
    replay(codex, run, name === 'second' ? first : undefined),
  ])
  assert.deepEqual(Object.fromEntries(runs), expected)
})

test('the other tools are calls with their results', () => {
  const dialect = exec()
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

test('a reconnect on the way is no failure, and a run that breaks off says how', (t) => {
  const dialect = exec()
  assert.deepEqual(dialect.line('{"type":"error","message":"Reconnecting... 1/5"}'), [])
  dialect.line('{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Done."}}')
  dialect.line('{"type":"turn.completed","usage":{"input_tokens":7,"cached_input_tokens":0,"output_tokens":3}}')
  assert.deepEqual(dialect.end({ out: '', err: '', code: 0, now: 0 }), [
    { type: 'usage', input: 7, output: 3, cached: 0, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'Done.' } },
  ])
  golden(t, exec().end({ out: '', err: 'panicked\n', code: 101, now: 0 }))
  assert.throws(() => dialect.line('thread panicked'))
})
