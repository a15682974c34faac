import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installedNode, npmEnvironment } from '../../scripts/installed-package.ts'
import { packageTarball, start } from '../cli/program.ts'
import { pathOf } from '../system-path.ts'

const root = join(import.meta.dirname, '..', '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  scripts: Record<string, string>
}

const folder = mkdtempSync(join(tmpdir(), 'termaite-package-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
chmodSync(folder, 0o755)

/** The number of a user without rights of their own. */
const ordinary = 65_534

test('the package holds the program and its papers, no tests, sources or source maps, and no install script', () => {
  const files = execFileSync('tar', ['-tzf', packageTarball], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
  assert.deepEqual(files.filter((path) => !/^(?:bin|dist)\//.test(path)).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'man/termaite.1',
    'package.json',
  ])
  assert.deepEqual(files.filter((path) => /^bin\/|licenses/.test(path)).sort(), [
    'bin/termaite.cjs',
    'dist/licenses.txt',
  ])
  assert.deepEqual(
    files.filter((path) => /\.map$|\.tsx?$|(?:^|\/)tests?\//.test(path)),
    [],
  )
  assert.ok(statSync(packageTarball).size < 3e6)
  assert.deepEqual(
    {
      dependencies: Object.keys(manifest.dependencies),
      optional: Object.keys(manifest.optionalDependencies),
      scripts: ['preinstall', 'install', 'postinstall', 'prepare'].filter((name) => name in manifest.scripts),
    },
    { dependencies: ['@lydell/node-pty', '@vscode/ripgrep'], optional: ['@napi-rs/keyring'], scripts: [] },
  )
})

/** An ACP agent that greets: without any package, as another vendor's program is. */
const acpAgent = `
const { createInterface } = require('node:readline')
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (method === 'initialize') say({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  if (method === 'session/new') say({ id, result: { sessionId: 'one' } })
  if (method !== 'session/prompt') return
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'hello from ACP' } }
  say({ method: 'session/update', params: { sessionId: 'one', update } })
  say({ id, result: { stopReason: 'end_turn' } })
})`

/** How people install a package for themselves. */
const ways: Record<string, { flags?: string[]; folder?: string; user?: 'ordinary' | 'runs only' }> = {
  plainly: {},
  'under a path with spaces': { folder: 'my own programs' },
  'without the optional packages': { flags: ['--omit=optional'] },
  'without the scripts of packages': { flags: ['--ignore-scripts'] },
  'by an ordinary user, with a prefix in their home': { user: 'ordinary' },
  'by root, for a user who may not write there': { user: 'runs only' },
}

for (const [name, { flags = [], folder: prefixName = 'global', user }] of Object.entries(ways)) {
  const skip = user !== undefined && process.getuid?.() !== 0 && 'only root can act as another user'
  test(
    `installed globally ${name}: nothing is said, and version, demo, and the turns of a command and of an ACP agent work`,
    { skip },
    () => {
      const home = join(folder, name)
      const [prefix, project, own] = [join(home, prefixName), join(home, 'project'), join(home, 'termaite')]
      for (const path of [project, own]) mkdirSync(path, { recursive: true })
      const acp = join(home, 'acp.cjs')
      writeFileSync(acp, acpAgent)
      const agents = [
        { name: 'plain', command: 'cat >/dev/null; echo OK', contextWindowTokens: 1000 },
        { name: 'acp', kind: 'acp', command: `'${process.execPath}' '${acp}'`, contextWindowTokens: 1000 },
      ]
      writeFileSync(join(own, 'settings.json'), JSON.stringify({ agents }))
      const env = {
        ...npmEnvironment(),
        HOME: home,
        TERMAITE_HOME: own,
        TERMAITE_KEYCHAIN: 'off',
        PATH: pathOf(join(prefix, 'bin')),
      }
      const as = (isOther: boolean) => (isOther ? { uid: ordinary, gid: ordinary } : {})
      if (user === 'ordinary')
        for (const path of [home, project, own, join(own, 'settings.json')]) chownSync(path, ordinary, ordinary)
      const install = [
        'install',
        '-g',
        '--prefix',
        prefix,
        '--cache',
        join(home, 'npm-cache'),
        '--loglevel=notice',
        '--no-update-notifier',
        '--no-fund',
        ...flags,
        packageTarball,
      ]
      const installed = spawnSync('npm', install, { env, encoding: 'utf8', cwd: home, ...as(user === 'ordinary') })
      // npm may warn about its own settings on this machine.
      const said = installed.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('npm warn Unknown '))
      assert.deepEqual([installed.status, said], [0, []])
      assert.match(installed.stdout, /^\s*added \d+ packages in \S+\s*$/)
      if (user === 'runs only')
        for (const path of [home, project, own, join(own, 'settings.json')]) chownSync(path, ordinary, ordinary)
      const run = (...args: string[]) => {
        const { status, stdout, stderr } = spawnSync('termaite', args, {
          cwd: project,
          env,
          encoding: 'utf8',
          input: '',
          ...as(user !== undefined),
        })
        return { status, stdout, stderr }
      }
      assert.deepEqual(run('--version'), { status: 0, stdout: `${manifest.version}\n`, stderr: '' })
      const demo = run('demo')
      assert.equal(demo.status, 0, demo.stderr)
      assert.doesNotMatch(demo.stderr, /Warning/)
      assert.deepEqual(
        [run('-p', 'hello', '-a', 'plain', '--only'), run('-p', 'hello', '-a', 'acp', '--only')].map(
          ({ status, stdout }) => [status, stdout],
        ),
        [
          [0, 'OK\n'],
          [0, 'hello from ACP\n'],
        ],
      )
      const doctor = run('doctor', '--json')
      assert.deepEqual(
        (JSON.parse(doctor.stdout) as { answers: boolean }[]).map(({ answers }) => answers),
        [true, true],
      )
    },
  )
}

test('npx runs the demo from the tarball, as the README’s first line does from the registry', () => {
  const home = join(folder, 'npx')
  mkdirSync(home)
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['exec', '--yes', `--package=${packageTarball}`, '--', 'termaite', 'demo'],
    {
      cwd: home,
      env: { ...npmEnvironment(), HOME: home, PATH: pathOf() },
      encoding: 'utf8',
      input: '',
    },
  )
  assert.equal(status, 0, stderr)
  assert.match(stdout, /scripted/)
})

test('an older Node gets one clear sentence', () => {
  const version = '20.19.5'
  const { status, stdout, stderr } = spawnSync(installedNode(version), [...start.slice(1), '-p', 'x'], {
    encoding: 'utf8',
  })
  assert.deepEqual(
    { status, stdout, stderr },
    {
      status: 2,
      stdout: '',
      stderr: `termaite needs Node.js 22.19 or newer, and this is ${version}. Install a newer one from nodejs.org and run it again.\n`,
    },
  )
})
