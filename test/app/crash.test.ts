import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { realClock } from '../../src/base/time/clock.ts'
import { run } from '../../src/cli/run.ts'

for (const debug of ['0', '1'])
  test(`an unexpected error is reported without a key, ${debug === '1' ? 'with' : 'without'} its stack`, async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
    t.after(() => rmSync(home, { recursive: true, force: true }))
    writeFileSync(join(home, 'credentials.json'), '{"groq":"put-away-99c1"}', { mode: 0o600 })
    const err = new PassThrough()
    const code = await run(['-p', 'hello'], {
      env: { TERMAITE_HOME: home, TERMAITE_DEBUG: debug, DEPLOY_TOKEN: 'planted-41a7c09e' },
      get cwd(): string {
        throw new Error('no way with put-away-99c1 and planted-41a7c09e')
      },
      in: new PassThrough(),
      piped: false,
      out: new PassThrough(),
      err,
      clock: realClock,
      signal: new AbortController().signal,
    })
    err.end()
    const said = await text(err)
    assert.equal(code, 1)
    assert.match(
      said,
      /^termaite: internal error: (Error: )?no way with \[masked key of groq\] and \[masked \$DEPLOY_TOKEN\]/,
    )
    assert.equal(said.includes('crash.test.ts'), debug === '1')
    assert.equal(said.includes('TERMAITE_DEBUG=1'), debug !== '1', 'a run with it is not told to use it')
  })
