import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../cli/program.ts'
import { fullOnly } from '../full.ts'

const root = join(import.meta.dirname, '..', '..')
const nodes = ['22.23.3', '24.21.0', '26.10.0']

type Packed = { filename: string; files: { path: string }[] }

const folder = mkdtempSync(join(tmpdir(), 'termaite-package-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  }).replace(/^[^[]*/, ''),
) as Packed[]
const tarball = join(folder, packed!.filename)

test('the package holds the program and its papers, no tests, no sources, two dependencies and no install script', () => {
  const outside = packed!.files.map(({ path }) => path).filter((path) => !/^(bin|dist)\//.test(path))
  assert.deepEqual(outside.sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'man/termaite.1',
    'package.json',
  ])
  const ofStart = packed!.files.map(({ path }) => path).filter((path) => /^bin\/|licenses/.test(path))
  assert.deepEqual(ofStart.sort(), ['bin/termaite.cjs', 'dist/licenses.txt'])
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies?: unknown
    scripts: Record<string, string>
  }
  assert.deepEqual(
    {
      dependencies: manifest.dependencies,
      scripts: ['preinstall', 'install', 'postinstall'].filter((name) => name in manifest.scripts),
    },
    { dependencies: { '@lydell/node-pty': '1.1.0', '@vscode/ripgrep': '1.18.0' }, scripts: [] },
  )
})

for (const version of nodes) {
  // The oldest Node that termaite runs on is the one that may lack something.
  const skip = version === nodes[0] ? false : fullOnly
  test(`installed globally under Node ${version}: version, demo, doctor and a turn`, { skip }, () => {
    const place = join(folder, version)
    const project = join(place, 'project')
    mkdirSync(project, { recursive: true })
    const runtime = `node-${process.platform}-${process.arch}`
    npm(['install', '--no-save', '--prefix', join(place, 'runtime'), `${runtime}@${version}`])
    npm(['install', '-g', '--prefix', join(place, 'global'), tarball])
    const env = {
      PATH: [
        join(place, 'runtime', 'node_modules', runtime, 'bin'),
        join(place, 'global', 'bin'),
        process.env.PATH,
      ].join(':'),
      HOME: place,
      TERMAITE_KEYCHAIN: 'off',
      TERMAITE_HOME: join(place, 'termaite'),
    }
    const run = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('termaite', args, { cwd: project, env, encoding: 'utf8', input: '' })
      return { status, stdout, stderr }
    }
    assert.equal(execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim(), `v${version}`)
    assert.deepEqual(run('--version'), { status: 0, stdout: `${ourVersion()}\n`, stderr: '' })
    const demo = run('demo')
    assert.equal(demo.status, 0, demo.stderr)
    assert.doesNotMatch(demo.stderr, /Warning/)
    mkdirSync(env.TERMAITE_HOME, { recursive: true, mode: 0o700 })
    writeFileSync(
      join(env.TERMAITE_HOME, 'settings.json'),
      JSON.stringify({ agents: [{ name: 'a', command: 'cat >/dev/null; echo OK', contextWindowTokens: 1000 }] }),
    )
    const doctor = run('doctor', '--json')
    assert.deepEqual(
      [doctor.status, (JSON.parse(doctor.stdout) as { answers: boolean }[]).map(({ answers }) => answers)],
      [0, [true]],
    )
    const turn = run('-p', 'hello')
    assert.deepEqual([turn.status, turn.stdout], [0, 'OK\n'])
    const usage = run('usage', '--json', '--by', 'agent')
    assert.deepEqual([usage.status, usage.stderr], [0, ''])
  })
}

test('an older Node gets one clear sentence', (t) => {
  const version = '20.19.5'
  const runtime = `node-${process.platform}-${process.arch}`
  npm(['install', '--no-save', '--prefix', join(folder, 'old'), `${runtime}@${version}`])
  const old = join(folder, 'old', 'node_modules', runtime, 'bin', 'node')
  if (!existsSync(old)) return t.skip(`there is no Node ${version} for this machine`)
  const { status, stdout, stderr } = spawnSync(old, [...start.slice(1), '-p', 'x'], {
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

function npm(args: string[]): void {
  execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel', 'error'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function ourVersion(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
}
