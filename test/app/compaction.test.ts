import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { realClock } from '../../src/base/clock.ts'
import { noBudget } from '../../src/core/work/budget.ts'
import { openApp } from '../../src/app/app.ts'
import { compactNow } from '../../src/app/compaction.ts'
import { placeOf } from '../../src/app/place.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { runTurn } from '../../src/app/turn.ts'

test('a summary stops with the turn that needs it', { timeout: 20_000 }, async (t) => {
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
  settings.agents = [{ name: 'good', kind: 'pipe', command: 'cat >/dev/null; echo fine', contextWindowTokens: 1000 }]
  const app = await openApp(io, place, settings, { ephemeral: true, budget: noBudget })
  for await (const _event of runTurn(app, { prompt: 'one', signal }));
  assert.deepEqual(await compactNow(app, 'auto', AbortSignal.abort()), {
    ok: false,
    why: 'cancelled before it started',
    failure: { kind: 'aborted', message: 'cancelled before it started' },
  })
  assert.equal((await compactNow(app, 'auto', signal)).ok, true)
})
