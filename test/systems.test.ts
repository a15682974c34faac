import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsePsFields } from '../src/base/process/owner.ts'
import { parsePs } from '../src/base/process/process-table.ts'
import { failedTrial } from '../src/safety/wall/availability.ts'
import { wallOf } from '../src/safety/wall/wall.ts'
import { start } from './cli/program.ts'

const root = join(import.meta.dirname, '..')

/** The files that ask for the system or read its files, by the part of docs/systems.md that says what another system does. */
const asking: Readonly<Record<string, readonly string[]>> = {
  Install: ['bin/single-file.cjs'],
  Sandbox: [
    'src/native/agent-wall.ts',
    'src/people/doctor/security-report.ts',
    'src/native/command-home.ts',
    'src/native/native-diagnostics.ts',
    'src/native/native-enclosure.ts',
    'src/native/command-wall.ts',
    'src/native/native-scratch.ts',
    'src/native/toolbox.ts',
    'src/desk/setup.ts',
    'src/safety/wall/availability.ts',
    'src/safety/wall/bubblewrap.ts',
    'src/safety/wall/hidden-places.ts',
    'src/safety/wall/quarantine.ts',
    'src/safety/wall/system-places.ts',
    'src/safety/wall/turn-scratch.ts',
    'src/safety/wall/wall.ts',
  ],
  Processes: [
    'src/agents/turn-processes.ts',
    'src/base/process/owner.ts',
    'src/base/process/left-processes.ts',
    'src/base/process/process-table.ts',
    'src/base/process/watchdog.ts',
    'src/cli/run.ts',
    'src/terminals/program/child-processes.ts',
    'src/terminals/tmux/pane-scripts.ts',
    'src/terminals/tmux/tmux-host.ts',
  ],
  Files: ['src/base/files/held-folder.ts', 'src/wire/peer/peer-sockets.ts', 'src/hub/ledgers/postgres/address.ts'],
  Desktop: ['src/desk/slash/shared/browser.ts', 'src/native/native-servers.ts', 'src/chat/input/clipboard.ts'],
  'What the machine can do': [
    'src/machine/network.ts',
    'src/machine/operating-system.ts',
    'src/machine/program-search.ts',
    'src/machine/quick-scan.ts',
    'src/think/consensus/machine-fit.ts',
  ],
  Windows: ['bin/termaite.cjs'],
}

/** Files that name a system, and do the same on each: places of other programs' files, words of a message, patterns. */
const naming = [
  'src/native/added-folders.ts',
  'src/native/mcp/clients.ts',
  'src/native/mcp/mcp-entries.ts',
  'src/cli/agent/supervised-run.ts',
  'src/think/script/script.ts',
  'src/profiles/copilot/copilot.ts',
  'src/safety/secret-files.ts',
  'src/safety/shell/touched-paths.ts',
  'src/terminals/pty/libraries.ts',
]

test('every dependence on the system is written down in docs/systems.md', () => {
  const headings = [...readFileSync(join(root, 'docs', 'systems.md'), 'utf8').matchAll(/^## (.+)$/gm)].map(
    ([, heading]) => heading,
  )
  assert.deepEqual(
    Object.keys(asking).filter((part) => !headings.includes(part)),
    [],
  )
  const found = globSync('{src,bin}/**/*.{ts,tsx,cjs,py}', { cwd: root }).filter((file) =>
    /\/proc\b|process\.platform|\bdarwin\b|\bwin32\b/.test(readFileSync(join(root, file), 'utf8')),
  )
  // A new file here: say in docs/systems.md what another system does, and add the file above.
  assert.deepEqual(found.sort(), [...Object.values(asking).flat(), ...naming].sort())
})

test('our own executable is named in one file, because that of the single file is termaite and not Node', () => {
  const naming = globSync('src/**/*.ts', { cwd: root }).filter((file) =>
    /\bexecPath\b|\bargv\[1\]|\bargv0\b(?!:)/.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(naming, ['src/base/process/own-program.ts'])
})

test('on Windows the program names WSL and ends', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-windows-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const preload = join(folder, 'windows.cjs')
  writeFileSync(preload, `Object.defineProperty(process, 'platform', { value: 'win32' })`)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--require', preload, ...start.slice(1), '-p', 'hello'],
    { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: folder } },
  )
  assert.deepEqual(
    { status, stdout, stderr },
    {
      status: 2,
      stdout: '',
      stderr:
        'termaite runs on Linux and macOS. On Windows it runs in WSL: install that with "wsl --install", open a terminal in it, and install Node.js, your agent CLIs and termaite there.\n',
    },
  )
})

// As the ps of macOS prints: columns filled with spaces on the left, states with further letters, a zombie without a group.
const macTable = `    1     0     1 Ss
  412     1   412 S
 9981   412  9981 Ss+
 9990  9981  9981 Z+
 9991  9981  9991 R+
`

test('the processes of a Mac are read from ps, without zombies', () => {
  assert.deepEqual(parsePs(macTable), [
    { pid: 1, ppid: 0, group: 1, start: '' },
    { pid: 412, ppid: 1, group: 412, start: '' },
    { pid: 9981, ppid: 412, group: 9981, start: '' },
    { pid: 9991, ppid: 9981, group: 9991, start: '' },
  ])
  assert.deepEqual(parsePsFields('Ss   Sun Nov 15 08:01:07 2026    \n'), ['Ss', 'Sun Nov 15 08:01:07 2026'])
  assert.deepEqual(parsePsFields(''), ['', ''])
})

test(
  'a Mac whose sandbox-exec cannot be started says so',
  { skip: existsSync('/usr/bin/sandbox-exec') && 'there is a sandbox-exec here' },
  async () => {
    assert.equal(
      await wallOf({ platform: 'darwin', env: {} }).none(),
      'sandbox-exec does not work here: spawn /usr/bin/sandbox-exec ENOENT',
    )
  },
)

test('a Mac that refuses the sandbox says so in the words of sandbox-exec', async () => {
  // As inside another sandbox, which can hold no second one.
  const words = 'sandbox-exec: sandbox_apply: Operation not permitted'
  assert.equal(
    await failedTrial(['/bin/sh', '-c', `echo '${words}' >&2; exit 71`], { platform: 'darwin', env: {} }),
    `sandbox-exec does not work here: ${words}`,
  )
})
