import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { collect } from '../../src/base/process/collect.ts'

// A program inside the folder where it is started is never taken, and the PATH of the tests may lie in the temporary folder.
const folder = mkdtempSync(join(tmpdir(), 'termaite-collect-'))
after(() => rmSync(folder, { recursive: true }))

const sh = (script: string, more: Partial<Parameters<typeof collect>[2]> = {}) =>
  collect('sh', ['-c', script], { cwd: folder, env: { PATH: process.env.PATH }, ...more })

test('a command gives its exit code and its output, and takes its input', async () => {
  assert.deepEqual(await sh('cat; echo oops >&2; exit 3', { input: 'in' }), {
    code: 3,
    out: Buffer.from('in'),
    err: 'oops\n',
  })
})

test('a command that does not read its input is no failure', async () => {
  assert.deepEqual(await sh('exec 0<&-; echo done', { input: 'x'.repeat(1 << 20) }), {
    code: 0,
    out: Buffer.from('done\n'),
    err: '',
  })
})

test('a command that is not there is an error, not a throw', async () => {
  const { error, ...rest } = await collect('no-such-command-here', [], { cwd: tmpdir(), env: {} })
  assert.deepEqual([rest, error?.code], [{ out: Buffer.alloc(0), err: '' }, 'ENOENT'])
})

test('a command ends when its signal aborts, or when enough was said', async () => {
  const stop = new AbortController()
  const hangs = 'echo on; exec 3>&1; (trap "" PIPE; while echo x >&3; do :; done) & wait'
  const aborted = await sh(hangs, { signal: stop.signal, enough: () => (stop.abort(), false) })
  assert.deepEqual({ ...aborted, out: aborted.out.toString('utf8', 0, 3) }, { out: 'on\n', err: '' })
  assert.deepEqual((await sh(hangs, { signal: stop.signal })).code, undefined)
  assert.equal((await sh('yes; true', { enough: (chunk) => chunk.length > 0 })).code, undefined)
})
