import { test } from 'node:test'
import assert from 'node:assert/strict'
import { codex } from '../../src/profiles/codex/codex.ts'
import { key, kindOf } from './replay.ts'

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

test('the last words of Codex in text mode say what went wrong, and those of an answer do not', () => {
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

test('each leash is held by its own settings, and a model is data', () => {
  assert.deepEqual(
    [
      codex.command({ leash: 'read' }),
      codex.command({ leash: 'ask', model: 'gpt 6' }),
      codex.command({ leash: 'edit', resume: `${key}+1200.1000.34` }),
      codex.command({ leash: 'all', model: 'gpt-6' }),
    ],
    [
      'codex app-server -c sandbox_mode=read-only -c approval_policy=never',
      "codex app-server -c sandbox_mode=read-only -c approval_policy=on-request -c 'model=gpt 6'",
      'codex app-server -c sandbox_mode=workspace-write -c approval_policy=on-request',
      'codex app-server -c sandbox_mode=danger-full-access -c approval_policy=never -c model=gpt-6',
    ],
  )
})
