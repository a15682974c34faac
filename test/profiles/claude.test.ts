import { test } from 'node:test'
import assert from 'node:assert/strict'
import { claude } from '../../src/profiles/claude/claude.ts'
import { kindOf, meanings, recorded, replay, thread } from './replay.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a command of a person’s own that reads a plain prompt is understood as well', () => {
  const runs = Object.entries(recorded('claude-one-way')).map(([name, run]) => [name, replay(claude, run)])
  assert.deepEqual(Object.fromEntries(runs), meanings('claude-one-way'))
})

test('without partial messages the text is shown once, when it is whole', () => {
  const run = recorded('claude-one-way').look!
  const out = run.ended.out.replaceAll(/^.*"type":"stream_event".*\n/gm, '')
  assert.deepEqual(replay(claude, { ...run, ended: { ...run.ended, out } }), [
    thread,
    { type: 'text', delta: 'Looking.' },
    { type: 'call', call: 'toolu_1', tool: 'Bash', input: { command: 'cat a.txt', description: 'look' } },
    { type: 'result', call: 'toolu_1', ok: true, text: 'hi' },
    { type: 'text', delta: 'It says hi.' },
    { type: 'usage', input: 2400, output: 68, cached: 2000, cost: 0.00336, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: 'It says hi.' } },
  ])
})

test('a subagent acts in the open and speaks to its agent alone', () => {
  const dialect = claude.dialect!()
  const said = (content: object[]) =>
    JSON.stringify({ type: 'assistant', parent_tool_use_id: 'toolu_1', message: { content } })
  const tool = { type: 'tool_use', id: 'toolu_2', name: 'Read', input: { file_path: 'a.txt' } }
  assert.deepEqual(dialect.line(said([{ type: 'text', text: 'mine alone' }, tool])), [
    { type: 'call', call: 'toolu_2', tool: 'Read', input: { file_path: 'a.txt' } },
  ])
})

test('a tool that the leash took away is a denial', () => {
  const dialect = claude.dialect!()
  const steps = [
    {
      type: 'assistant',
      message: { content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'make' } }] },
    },
    {
      type: 'user',
      message: {
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            is_error: true,
            content:
              '<tool_use_error>Error: No such tool available: Bash. Bash is disabled for this session, in subagents as well as here.</tool_use_error>',
          },
        ],
      },
    },
    { type: 'result', is_error: false, result: 'I may only look.' },
  ]
  for (const step of steps) dialect.line(JSON.stringify(step))
  assert.deepEqual(dialect.end({ out: '', err: '', code: 0, now: 0 }), [
    { type: 'end', outcome: { ok: true, text: 'I may only look.', denials: ['Bash: make'] } },
  ])
})

test('a run that breaks off says how, and an unknown line means nothing', (t) => {
  const dialect = claude.dialect!()
  assert.deepEqual(dialect.line('{"type":"from_a_later_version"}'), [])
  assert.throws(() => dialect.line('Segmentation fault'))
  golden(t, dialect.end({ out: '', err: 'one\nlast words\n', signal: 'SIGKILL', now: 0 }))
})

test('the last words of Claude Code in text mode say what went wrong', () => {
  const said = {
    "You've hit your session limit · resets 3pm (America/New_York)": 'quota',
    'Claude AI usage limit reached|1794762000': 'quota',
    'Credit balance is too low': 'quota',
    "API Error: Request rejected (429) · This request would exceed your account's rate limit.": 'busy',
    'API Error: 529 Overloaded. This is a server-side issue, usually temporary': 'busy',
    'Invalid API key · Fix external API key': 'auth',
    'Not logged in · Please run /login': 'auth',
    'OAuth token revoked · Please run /login': 'auth',
    'Prompt is too long': 'overflow',
    "error: unknown option '--nosuchflag'": undefined,
    'The API answers with 429 when your usage limit is reached.': undefined,
  }
  assert.deepEqual(Object.fromEntries(Object.keys(said).map((out) => [out, kindOf(claude, { out })])), said)
})

test('quota words in an answer that ended well park no agent', () => {
  assert.equal(kindOf(claude, { code: 0, out: "You've hit your session limit, says the log." }), undefined)
  assert.equal(kindOf(claude, { code: 0, out: 'Claude AI usage limit reached|1794762000\n' }), 'quota')
})

test('each leash is held by its own flags, and handed-in values are quoted', () => {
  const plain =
    'claude -p --input-format stream-json --output-format stream-json --verbose --include-partial-messages --permission-prompt-tool stdio'
  const alone = `${plain} --disallowedTools AskUserQuestion`
  assert.deepEqual(
    [
      claude.command({ leash: 'read' }),
      claude.command({ leash: 'ask', model: 'opus; rm' }),
      claude.command({ leash: 'edit', resume: "it's" }),
      claude.command({ leash: 'ask', attended: true }),
    ],
    [
      `${alone} --permission-mode dontAsk --tools Read,Glob,Grep,WebFetch,WebSearch --strict-mcp-config`,
      `${alone} --permission-mode default --model 'opus; rm'`,
      `${alone} --permission-mode acceptEdits --resume 'it'\\''s'`,
      `${plain} --permission-mode default`,
    ],
  )
})
