import { newNativeState } from '../../src/app/native/native-parts.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { openBorder } from '../../src/safety/border.ts'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Leash } from '../../src/core/work/agent.ts'
import type { Wall } from '../../src/safety/wall/wall.ts'
import type { Tool } from '../../src/core/work/tool.ts'
import type { NativeParts, NativeSeat } from '../../src/app/native/native-parts.ts'
import type { ProjectDoc } from '../../src/app/project.ts'
import { realClock } from '../../src/base/clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { toolboxOf } from '../../src/app/native/toolbox.ts'
import { sandboxedShell, sandboxWords } from '../../src/app/native/native-sandbox.ts'
import { permissionsOf } from '../../src/settings/permissions.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
writeFileSync(join(root, 'package.json'), '{"scripts":{"test":"node --test"}}')
process.on('exit', () => rmSync(root, { recursive: true, force: true }))

const system: Wall = {
  none: async () => undefined,
  wrap: async (command, { network }) => ({ argv: [network ? 'open' : 'closed', ...command], settle: async () => [] }),
}
const without: Wall = { none: async () => 'it rains', wrap: async () => ({ none: 'it rains' }) }

type Held = {
  leash?: Leash
  network?: 'rule' | 'all' | 'none'
  enabled?: boolean
  allow?: string[]
  run?: string[]
}

function held({ leash = 'edit', network = 'rule', enabled = true, allow = [], run = [] }: Held, sandbox = system) {
  const store = memoryStore()
  const settings = { permissions: permissionsOf({ allow }, { allow: run }), sandbox: { enabled, network } }
  const seat = { agent: { name: 'own' }, settings, leash, window: 1 } as unknown as NativeSeat
  const parts: NativeParts = {
    ...{
      home: root,
      root,
      cwd: root,
      env: { HOME: root },
      clock: realClock,
      session: 's',
      border: openBorder({ env: {} }),
    },
    store,
    blobs: store.blobs('output'),
    project: store.doc<ProjectDoc>('project', { path: root, lastUsed: 0, sessions: {} }),
    state: { ...newNativeState(), sandbox, seats: new Map([['own', seat]]) },
  }
  return { parts, seat, walls: sandboxedShell('own', parts, () => toolboxOf('own', parts).box.tools) }
}

const program = async (command: string, how: Held = {}) => (await held(how).walls.shell(command))[0]

test('a command reaches the network where a rule or a yes gives it one', async () => {
  assert.deepEqual(
    {
      'what looks': await program('ls'),
      'what runs the project’s own': await program('npm test'),
      'what reaches out was asked for': await program('curl https://example.com'),
      'what installs was asked for': await program('npm install left-pad'),
      'any part of it': await program('ls && git fetch'),
      'a rule for the web': await program('npm test', { allow: ['WebFetch'] }),
      'a rule of this run': await program('npm test', { run: ['web_fetch'] }),
      'a rule for one host is none for a shell': await program('npm test', { allow: ['WebFetch(domain:a.org)'] }),
      'the whole leash': await program('npm test', { leash: 'all' }),
      'the settings open it': await program('ls', { network: 'all' }),
      'the settings close it': await program('curl https://example.com', { network: 'none', leash: 'all' }),
      'the settings switch it off': await program('ls', { enabled: false }),
    },
    {
      'what looks': 'closed',
      'what runs the project’s own': 'closed',
      'what reaches out was asked for': 'open',
      'what installs was asked for': 'open',
      'any part of it': 'open',
      'a rule for the web': 'open',
      'a rule of this run': 'open',
      'a rule for one host is none for a shell': 'closed',
      'the whole leash': 'open',
      'the settings open it': 'open',
      'the settings close it': 'closed',
      'the settings switch it off': 'bash',
    },
  )
})

test('a command that fails for want of a network says why', async () => {
  const { walls } = held({})
  const bash = (text: string) =>
    walls.explain({
      effect: ({ command }: { command: string }) => ({ does: 'command', command }),
      run: async () => ({ text, data: { exit: 1 } }),
    } as unknown as Tool)
  const ran = async (command: string, text: string) => {
    await walls.shell(command)
    return (await bash(text).run({ command }, {} as never)) as { text: string }
  }
  const failure = 'getaddrinfo EAI_AGAIN registry.example.com'
  assert.match(
    (await ran('npm test', failure)).text,
    /EAI_AGAIN [^]*\n\[The command ran without a network: no rule allows one\./,
  )
  assert.deepEqual(await ran('curl x.org', failure), { text: failure, data: { exit: 1 } })
  assert.deepEqual(await ran('npm test', 'one test failed'), { text: 'one test failed', data: { exit: 1 } })
})

test('where there is no sandbox it is said once in a project, and on asking', async () => {
  const { parts, seat, walls } = held({}, without)
  assert.deepEqual(await walls.shell('ls'), ['bash', '-c', 'ls'])
  await walls.shell('ls')
  const words = 'Commands run without a sandbox: it rains. The rules alone hold them.'
  assert.deepEqual(parts.state.notes, [words])
  assert.equal(await sandboxWords(seat.settings, without), words)
  assert.equal(
    await sandboxWords(seat.settings, system),
    'Commands run in a sandbox: the project is writable, the rest only readable, and the network is open where a rule or your yes allows it.',
  )
})
