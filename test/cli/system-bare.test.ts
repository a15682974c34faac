import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine, start } from './program.ts'

/** A world where nothing can be written, nobody can be reached, and the home is a mount of its own. */
const walls = (home: string, ...command: string[]) => {
  const system = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-net']
  return ['bwrap', ...system, '--tmpfs', home, '--remount-ro', home, '--', ...command] as const
}

const [bwrap, ...probe] = walls('/tmp', 'true')
const walled = spawnSync(bwrap, probe).status === 0

/** The facts of this system, for a comparison. */
function osRelease(): Record<string, string> {
  const lines = readFileSync('/etc/os-release', 'utf8').matchAll(/^(\w+)="?(.*?)"?$/gm)
  return Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]))
}

test(
  'in a bare world (no programs, no network, a home that is read-only) the scan is right and says nothing else',
  { timeout: 60_000, skip: !walled && 'bubblewrap does not work here' },
  (t) => {
    const { folder } = new Machine(t)
    const home = join(folder, 'home')
    const [command, ...args] = walls(home, ...start, 'system', '--json')
    const env = {
      PATH: '',
      HOME: home,
      TERMAITE_HOME: join(home, 'termaite'),
      TERMAITE_KEYCHAIN: 'off',
      SHELL: '/bin/sh',
    }
    const bare = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])
    const { status, stdout, stderr } = spawnSync(command, ['--clearenv', ...bare, ...args], { encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''])
    const { scannedAt, sudoAvailable, ...told } = JSON.parse(stdout)
    assert.deepEqual([typeof scannedAt, typeof sudoAvailable], ['number', 'boolean'])
    const { NAME, VERSION_ID } = osRelease()
    assert.deepEqual(told, {
      os: { name: NAME, ...(VERSION_ID === undefined ? {} : { version: VERSION_ID }), arch: process.arch },
      shell: { type: 'sh' },
      runtimes: {},
      binaries: {},
      packageManagers: [],
      network: { hasInternet: false },
    })
  },
)
