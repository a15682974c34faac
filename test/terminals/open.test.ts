import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { openHost } from '../../src/terminals/open-host.ts'
import { ptyHost } from '../../src/terminals/pty/pty-host.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A machine whose tmux says this of itself; none without words. */
function machine(t: TestContext, says?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-tmux-'))
  t.after(() => rmSync(folder, { recursive: true }))
  if (says !== undefined) {
    writeFileSync(join(folder, 'tmux'), `#!/bin/sh\n${says}\n`)
    chmodSync(join(folder, 'tmux'), 0o755)
  }
  return { folder, env: { PATH: folder }, clock: realClock }
}

const told = async (...wanted: Parameters<typeof openHost>) => {
  const { kind, why, host } = await openHost(...wanted)
  return [kind, host.outlives, why]
}

test('tmux is used when it is installed and new enough, and otherwise the host says why not', async (t) => {
  assert.deepEqual(await told('auto', machine(t, 'echo tmux 3.3a')), ['tmux', true, undefined])
  assert.deepEqual(await told('auto', machine(t, 'echo tmux next-3.6')), ['tmux', true, undefined])
  golden(t, await told('auto', machine(t, 'echo tmux 3.1c')))
  golden(t, await told('auto', machine(t)))
  assert.match(
    String((await told('auto', machine(t, 'exit 1')))[2]),
    /^tmux does not run: .*: agents run in embedded terminals/,
  )
})

test('a host that is wanted by name is opened, or refused with what to do', async (t) => {
  assert.deepEqual(await told('pty', machine(t, 'echo tmux 3.3a')), ['pty', false, undefined])
  assert.deepEqual(await told('tmux', machine(t, 'echo tmux 3.3a')), ['tmux', true, undefined])
  await golden.rejects(t, openHost('tmux', machine(t)))
})

test('when no PTY library can be loaded, opening says so, and the next call tries again', async () => {
  let tries = 0
  const host = ptyHost({
    env: {},
    clock: realClock,
    load: async () => {
      throw new Error(`no binary for this machine, ${++tries}`)
    },
  })
  await assert.rejects(host.open('true', { cwd: '/' }), { message: 'no binary for this machine, 1' })
  await assert.rejects(host.open('true', { cwd: '/' }), { message: 'no binary for this machine, 2' })
  await host.close()
})
