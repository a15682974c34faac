import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gemini } from '../../src/profiles/gemini/gemini.ts'
import { kindOf } from './replay.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a tool that the policy forbids is a denial, and a tool that does not exist is not', () => {
  const dialect = gemini.dialect!()
  const called = (tool_name: string, parameters: object, type: string) => {
    dialect.line(JSON.stringify({ type: 'tool_use', tool_id: tool_name, tool_name, parameters }))
    dialect.line(
      JSON.stringify({ type: 'tool_result', tool_id: tool_name, status: 'error', error: { type, message: 'no' } }),
    )
  }
  called('replace', { file_path: 'a.txt' }, 'policy_violation')
  called('run_shell_command', { command: 'make' }, 'tool_not_registered')
  called('teleport', { to: 'mars' }, 'tool_not_registered')
  dialect.line('{"type":"result","status":"success","stats":{}}')
  assert.deepEqual(dialect.end({ out: '', err: '', code: 0, now: 0 }), [
    { type: 'end', outcome: { ok: true, text: '', denials: ['replace: a.txt', 'run_shell_command: make'] } },
  ])
})

test('thoughts count as output', () => {
  const dialect = gemini.dialect!()
  dialect.line('{"type":"message","role":"assistant","content":"4"}')
  const stats = { total_tokens: 150, input_tokens: 100, output_tokens: 10, cached: 60 }
  dialect.line(JSON.stringify({ type: 'result', status: 'success', stats }))
  assert.deepEqual(dialect.end({ out: '', err: '', code: 0, now: 0 }), [
    { type: 'usage', input: 100, output: 50, cached: 60, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: '4' } },
  ])
})

test('a run that breaks off says how, and an unknown line means nothing', (t) => {
  const dialect = gemini.dialect!()
  assert.deepEqual(dialect.line('{"type":"from_a_later_version"}'), [])
  assert.throws(() => dialect.line('FATAL ERROR: heap out of memory'))
  golden(t, dialect.end({ out: '', err: '', signal: 'SIGABRT', now: 0 }))
})

test('the last words of Gemini in text mode say what went wrong, and those of an answer do not', () => {
  const said = {
    'Error when talking to Gemini API Full report available at: /tmp/x.json TerminalQuotaError: You have exhausted your daily quota on this model.':
      'quota',
    '[API Error: You have exhausted your capacity on this model. Your quota will reset after 15h14m39s.]': 'quota',
    'Attempt 10 failed: Resource has been exhausted (e.g. check quota).. Max attempts reached': 'busy',
    'Gemini CLI is not running in a trusted directory. To proceed, either use `--skip-trust`, …': 'auth',
    'Invalid auth method selected.': 'auth',
    'Error executing tool run_shell_command: You have exhausted your daily quota on this model.': undefined,
  }
  assert.deepEqual(Object.fromEntries(Object.keys(said).map((err) => [err, kindOf(gemini, { err })])), said)
  assert.equal(kindOf(gemini, { out: '[API Error: You have exhausted your daily quota on this model.]' }), undefined)
  assert.equal(kindOf(gemini, { code: 0, err: Object.keys(said)[0]! }), undefined)
})

test('a folder is trusted only where there is nothing that trust would let in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-trust-'))
  const trust = /\$\(.*?\)/.exec(gemini.command({ leash: 'read' }))![0]
  const flag = () => spawnSync('bash', ['-c', `printf %s ${trust}`], { cwd: folder, encoding: 'utf8' }).stdout
  try {
    const empty = flag()
    writeFileSync(join(folder, '.env'), '')
    assert.deepEqual([empty, flag()], ['--skip-trust', ''])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('each leash is held by its own mode, and handed-in values are quoted', () => {
  const trust = '$([ -e .gemini ] || [ -e .env ] || echo --skip-trust)'
  assert.deepEqual(
    [
      gemini.command({ leash: 'read' }),
      gemini.command({ leash: 'ask', model: 'a b' }),
      gemini.command({ leash: 'edit', resume: '$(rm)' }),
      gemini.command({ leash: 'all' }),
    ],
    [
      `gemini -o stream-json --approval-mode plan ${trust}`,
      `gemini -o stream-json --approval-mode default ${trust} -m 'a b'`,
      `gemini -o stream-json --approval-mode auto_edit ${trust} --resume '$(rm)'`,
      `gemini -o stream-json --approval-mode yolo ${trust}`,
    ],
  )
})

test('its tries after a refusal are cut short once they take long', () => {
  const status =
    '_ApiError: {"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}'
  const lines = [
    `Attempt 1 failed with status 429. Retrying with backoff... ${status}`,
    `Attempt 2 failed with status 429. Retrying with backoff... ${status}`,
    'Attempt 1 failed: The model is overloaded. Please try again later.. Retrying after 5210ms...',
    'Suggested retry after 41s.. Retrying after 48911ms...',
    'Attempt 1 failed: You have exhausted your capacity on this model. Your quota will reset after 2h0m0s.. Retrying after 7200000ms...',
    'Error executing tool run_shell_command: Attempt 2 failed with status 429. Retrying with backoff...',
  ]
  assert.deepEqual(
    lines.map((line) => gemini.retrying!(line, 1_000_000)),
    [
      undefined,
      { kind: 'busy', message: 'Resource has been exhausted (e.g. check quota).' },
      undefined,
      { kind: 'busy', message: 'Suggested retry after 41s.', retryAt: 1_048_911 },
      {
        kind: 'quota',
        message: 'You have exhausted your capacity on this model. Your quota will reset after 2h0m0s.',
        retryAt: 8_200_000,
      },
      undefined,
    ],
  )
})
