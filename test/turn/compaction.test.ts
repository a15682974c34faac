import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { realClock } from '../../src/base/time/clock.ts'
import { noBudget } from '../../src/core/work/budget.ts'
import { openApp } from '../../src/turn/app.ts'
import { compactNow } from '../../src/turn/compaction.ts'
import { placeOf } from '../../src/home/place.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { healthDoc } from '../../src/turn/rotation/health.ts'
import { awayWords } from '../../src/turn/rotation/no-answer.ts'
import { runTurn } from '../../src/app/turn.ts'

/** An app in a folder of its own, with these commands as its agents. */
async function opened(t: TestContext, commands: Record<string, string>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { signal } = new AbortController()
  const streams = { in: new PassThrough(), out: new PassThrough(), err: new PassThrough() }
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    TERMAITE_KEYCHAIN: 'off',
    TERMAITE_HOME: join(folder, 'termaite'),
  }
  const io = { env, cwd: folder, piped: false, ...streams, clock: realClock, signal }
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home }, { env })
  settings.rotationStrategy = 'exhaustion'
  settings.agents = Object.entries(commands).map(([name, command]) => ({
    name,
    kind: 'pipe',
    command,
    contextWindowTokens: 1000,
  }))
  return { app: await openApp(io, place, settings, { ephemeral: true, budget: noBudget }), signal }
}

test('each agent that is asked for a summary, fails or is skipped has its line, and its quota parks it', async (t) => {
  const spent = 'cat >/dev/null; echo "usage limit reached, try again in 3 hours" >&2; exit 1'
  const { app, signal } = await opened(t, { first: spent, second: 'cat >/dev/null; echo fine' })
  for (const prompt of ['one', 'two']) for await (const _event of runTurn(app, { prompt, signal, agent: 'second' }));
  const lines: string[] = []
  const say = (words: string) => lines.push(words)
  for (let round = 0; round < 2; round++) assert.equal((await compactNow(app, 'auto', { say, signal })).ok, true)
  const until = (await healthDoc(app.store).read()).agents.first?.parked?.until
  assert.ok(until !== undefined && until > realClock.now())
  assert.deepEqual(lines, [
    'first is out of quota: usage limit reached, try again in 3 hours (asked for: a summary)',
    'second wrote a summary.',
    `Skipped first: ${awayWords({ as: 'parked', until, why: 'quota' }, realClock.now())}`,
    'second wrote a summary.',
  ])
})

test('a summary stops with the turn that needs it', { timeout: 20_000 }, async (t) => {
  const { app, signal } = await opened(t, { good: 'cat >/dev/null; echo fine' })
  for await (const _event of runTurn(app, { prompt: 'one', signal }));
  assert.deepEqual(await compactNow(app, 'auto', { say: () => {}, signal: AbortSignal.abort() }), {
    ok: false,
    why: 'cancelled before it started',
    failure: { kind: 'aborted', message: 'cancelled before it started' },
  })
  assert.equal((await compactNow(app, 'auto', { say: () => {}, signal })).ok, true)
})
