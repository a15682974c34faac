import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plain, seated, type Seat } from '../app/seat.ts'

/** A desk on a machine that has only the programs in its own folder. */
async function atDesk(
  t: TestContext,
): Promise<{ seat: Seat; install(name: string): void; remove(name: string): void }> {
  const seat = await seated(t, plain({ amber: 'cat >/dev/null' }))
  const bin = join(seat.folder, 'bin')
  mkdirSync(bin)
  Object.assign(seat.app.native.env, { PATH: bin, SHELL: '/bin/sh' })
  return {
    seat,
    install: (name) => writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} 1.0\n`, { mode: 0o755 }),
    remove: (name) => rmSync(join(bin, name)),
  }
}

test('/refresh-system looks again, says what came and went, and lets the sessions be told', async (t) => {
  const { seat, install, remove } = await atDesk(t)
  install('git')
  const [first] = await seat.type('/refresh-system')
  assert.equal(first![0], 'note')
  assert.match(first![1], /^System: .*\nRuntimes: none\nPrograms: git\n[^]*\nNetwork: [^\n]*$/)
  install('pandoc')
  remove('git')
  const [second, ...more] = await seat.type('/refresh-system')
  assert.deepEqual(more, [])
  assert.equal(second![1].split('\n').at(-1), 'New: pandoc. Gone: git.')
  const kept = JSON.parse(readFileSync(join(seat.home, 'system-spec.json'), 'utf8'))
  assert.deepEqual([Object.keys(kept.spec.binaries), kept.asked], [['pandoc'], seat.clock.now()])
  assert.deepEqual(await seat.type('/refresh-system now'), [['error', '/refresh-system takes no arguments.']])
})
