import { test } from 'node:test'
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { realClock } from '../../src/base/time/clock.ts'
import { ask } from '../../src/questions/terminal-questions.ts'
import { readStdin } from '../../src/cli/commands/prompt.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const io = () => ({
  env: {},
  cwd: '/',
  piped: true,
  in: new PassThrough(),
  out: new PassThrough(),
  err: new PassThrough(),
  clock: realClock,
  signal: AbortSignal.abort(143),
})

test('an interrupt that came before a question ends it, and nothing is waited for', { timeout: 5_000 }, async (t) => {
  await golden.rejects(t, ask(io(), 'Go on?'))
})

test('an interrupt that came before stdin was read ends the reading', { timeout: 5_000 }, async () => {
  assert.equal(await readStdin(io(), true), '')
})
