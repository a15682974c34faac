import type { Wall } from '../../src/safety/wall/wall.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { triedPromises } from '../../src/people/doctor/tried-promises.ts'
import { wallOf } from '../../src/safety/wall/wall.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { folder } from '../native/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const left = () => readdirSync('/var/tmp').filter((name) => name.startsWith('termaite-doctor-'))

test('each promise is tried in the sandbox of this machine, and held', { skip: noSandbox }, async (t) => {
  const env = { PATH: process.env.PATH, HOME: folder(t) }
  const findings = await triedPromises({ env }, wallOf({ platform: process.platform, env }))
  golden(t, findings.map(({ level, words }) => `${level} ${words}`).join('\n'))
})

/** A wall that holds nothing, one that cannot start a command, and one that does not exist. */
const walls: Record<string, Wall> = {
  'holds nothing': {
    none: async () => undefined,
    wrap: async (argv) => ({ argv, settle: async () => [], sees: () => true }),
  },
  'does not start': {
    none: async () => undefined,
    wrap: async () => ({
      argv: ['/bin/sh', '-c', 'echo no namespaces >&2; exit 1'],
      settle: async () => [],
      sees: () => true,
    }),
  },
  'is missing': { none: async () => 'bubblewrap is missing', wrap: async () => ({ none: 'bubblewrap is missing' }) },
}

for (const [how, wall] of Object.entries(walls))
  test(`a sandbox that ${how} is never said to hold`, async (t) => {
    const before = left()
    const findings = await triedPromises({ env: { PATH: process.env.PATH, HOME: folder(t) } }, wall)
    assert.deepEqual(
      findings.filter(({ level }) => level === 'ok'),
      [],
    )
    golden(t, findings.map(({ level, words }) => `${level} ${words}`).join('\n'))
    assert.deepEqual(
      left().filter((name) => !before.includes(name)),
      [],
    )
  })
