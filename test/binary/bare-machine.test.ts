import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, Machine, start } from '../cli/program.ts'
import { ProgramWindow, keys } from '../screen/program-window.ts'

const binary = start[0]

/** Programs of a small Linux. Neither Node nor tmux, ripgrep or a sandbox is among them. */
const programs = [
  ...['awk', 'bash', 'cat', 'cp', 'cut', 'dash', 'date', 'echo', 'env', 'false', 'git', 'grep', 'head', 'kill', 'ls'],
  ...['mkdir', 'mktemp', 'mv', 'ps', 'pwd', 'rm', 'sed', 'sh', 'sleep', 'sort', 'stty', 'tail', 'tr', 'true', 'uname'],
  ...['wc', 'which'],
]

/** A command in a file system of its own, which has the system's libraries, these programs and the one file. */
function inside(machine: Machine, argv: readonly string[]): [string, ...string[]] {
  const bin = programs.flatMap((name) => {
    const path = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path))
    return path === undefined ? [] : ['--ro-bind', realpathSync(path), join('/usr/bin', name)]
  })
  const libraries = ['/usr/lib', '/usr/lib64', '/usr/libexec'].filter((path) => existsSync(path))
  const links = ['lib', 'lib64', 'bin'].flatMap((name) => ['--symlink', join('usr', name), join('/', name)])
  return [
    'bwrap',
    ...['--unshare-user', '--unshare-pid', '--die-with-parent', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ...libraries.flatMap((path) => ['--ro-bind', path, path]),
    ...links,
    ...bin,
    ...['--ro-bind', binary, '/usr/bin/termaite'],
    ...['--bind', machine.folder, machine.folder, '--chdir', machine.project],
    ...['--clearenv', '--setenv', 'PATH', '/usr/bin', '--setenv', 'HOME', join(machine.folder, 'home')],
    ...['--setenv', 'TERM', 'xterm-256color', '--setenv', 'LANG', 'C.UTF-8', '--setenv', 'TERMAITE_KEYCHAIN', 'off'],
    ...argv,
  ]
}

/** The machine, and a way to run a command on it. */
function bareMachine(t: TestContext) {
  const machine = new Machine(t)
  const settings = join(machine.folder, 'home', '.termaite')
  mkdirSync(settings, { mode: 0o700 })
  const agents = [{ name: 'a', command: 'cat >/dev/null; echo "It is done."', contextWindowTokens: 100_000 }]
  writeFileSync(join(settings, 'settings.json'), JSON.stringify({ agents }))
  const begin = (...argv: string[]) => {
    const [program, ...args] = inside(machine, argv)
    return machine.own(spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] }))
  }
  const run = async (...argv: string[]) => {
    const child = begin(...argv)
    child.stdin.end()
    const { code, out, err } = await ended(child)
    return { code, out, err }
  }
  return { machine, begin, run }
}

const skip =
  start.length > 1
    ? 'npm run test:binary makes the single file'
    : spawnSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0
      ? false
      : 'there is no bubblewrap that works here'

test(
  'on a machine without Node: version, demo, a turn, and nothing but the program in its cache',
  { skip },
  async (t) => {
    const { machine, run } = bareMachine(t)
    assert.deepEqual(await run('which', 'node'), { code: 1, out: '', err: '' })
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
      version: string
    }
    assert.deepEqual(await run('termaite', '--version'), { code: 0, out: `${version}\n`, err: '' })
    const demo = await run('termaite', 'demo')
    assert.equal(demo.code, 0, demo.err)
    assert.match(demo.out, /crew artifact 2\nIn short: greets nobody in French\n/)
    const turn = await run('termaite', '-p', 'Do it')
    assert.deepEqual([turn.code, turn.out], [0, 'It is done.\n'])
    const cached = readdirSync(join(machine.folder, 'home', '.cache', 'termaite'))
    assert.equal(cached.filter((name) => name.startsWith('program-')).length, 1)
  },
)

test('on a machine without Node: the chat in a terminal', { skip }, async (t) => {
  const { machine } = bareMachine(t)
  const window = new ProgramWindow(machine, { shell: inside(machine, ['termaite']) })
  t.after(() => window.end())
  await window.shows('Ask anything')
  window.type(`Do it${keys.enter}`)
  await window.shows('It is done.')
  await window.shows(/─ a/)
  window.type('/exit\r')
  assert.deepEqual(await window.exited, { exitCode: 0, signal: 0 })
})

test('on a machine without Node: the hub and its page', { skip }, async (t) => {
  const { begin } = bareMachine(t)
  const serving = begin('termaite', 'serve', '--port', '0')
  const [line] = (await once(serving.stdout, 'data')) as [Buffer]
  const url = String(line).trim()
  const page = await fetch(url)
  const files = [...(await page.text()).matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!)
  assert.ok(files.some((path) => path.endsWith('.js')))
  const answers = await Promise.all([url, ...files.map((path) => url + path)].map((path) => fetch(path)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  )
})

test(
  'the single file is Node where it is asked to: code, a module, TypeScript, and what lies behind them',
  { skip },
  async (t) => {
    const { machine, run } = bareMachine(t)
    const said = 'console.log(process.argv.slice(1).join(), typeof require)'
    assert.deepEqual(await run('termaite', '--as-node', '-e', said, 'a', 'b'), {
      code: 0,
      out: 'a,b function\n',
      err: '',
    })
    const module = join(machine.project, 'main.mts')
    writeFileSync(
      module,
      `import { sep } from 'node:path'\nconst words: string[] = process.argv.slice(2)\nconsole.log(words, sep)\n`,
    )
    assert.deepEqual(await run('termaite', '--as-node', module, 'a'), { code: 0, out: "[ 'a' ] /\n", err: '' })
    const failed = await run('termaite', '--as-node', '-e', 'process.exitCode = 7; throw new Error("no")')
    assert.deepEqual([failed.code, /Error: no/.test(failed.err)], [1, true])
  },
)

test(
  'a new build removes the programs of others that were not started for a month and do not run',
  { skip },
  async (t) => {
    const { machine, run } = bareMachine(t)
    const cache = join(machine.folder, 'home', '.cache', 'termaite')
    const program = (letter: string, days: number, ending = '') => {
      const name = `program-${letter.repeat(16)}${ending}`
      mkdirSync(join(cache, name, 'bin'), { recursive: true })
      const then = Date.now() / 1000 - days * 24 * 3600
      utimesSync(join(cache, name), then, then)
      return name
    }
    const [running, young, other] = [program('b', 40), program('c', 20), 'program-of-mine']
    mkdirSync(join(cache, other))
    utimesSync(join(cache, other), 0, 0)
    program('a', 40)
    program('d', 40, '.Ab12Cd')
    const said = await run('bash', '-c', `exec 9< ${join(cache, running)}; termaite --version`)
    assert.equal(said.code, 0, said.err)
    const left = readdirSync(cache).filter((name) => name.startsWith('program-'))
    assert.deepEqual(
      [left.length, left.filter((name) => [running, young, other].includes(name))],
      [4, [running, young, other]],
    )
  },
)

test('when the cache cannot be written, the program is unpacked for one run', { skip }, async (t) => {
  const { machine, run } = bareMachine(t)
  // A file in the place of the folder.
  writeFileSync(join(machine.folder, 'home', '.cache'), '')
  const turn = await run('bash', '-c', 'termaite -p "Do it" && ls /tmp | grep program || echo "nothing is left"')
  assert.deepEqual([turn.code, turn.out], [0, 'It is done.\nnothing is left\n'])
})
