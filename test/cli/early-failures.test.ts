import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeCache, ended, Machine, start } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const agents = { good: 'cat >/dev/null; echo the answer' }

type Case = {
  title: string
  args: string[]
  code: number
  kind: string
  prepare?(machine: Machine): void
  env?: Record<string, string>
  /** A file that stdin is opened from. */
  stdin?: string
}

const cases: Case[] = [
  {
    title: 'an unknown flag',
    args: ['-p', 'x', '--colour'],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'a flag without its value',
    args: ['-p', '--leash', 'read'],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'a bad value of a flag',
    args: ['-p', 'x', '--leash', 'loose'],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'a bad number',
    args: ['-p', 'x', '--max-cost', 'much'],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'a bad rule',
    args: ['-p', 'x', '--deny', 'bash('],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'an empty prompt',
    args: ['-p', ' '],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'two flags that exclude each other',
    args: ['-p', 'x', '--exclusive', '--ephemeral'],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'a folder that is not there',
    args: ['-p', 'x', '--cwd', 'nowhere'],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'no project to continue',
    args: ['-p', 'x', '--continue'],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'an unknown agent',
    args: ['-p', 'x', '-a', 'nobody'],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'no agents',
    args: ['-p', 'x'],
    code: 2,
    kind: 'usage',
    prepare: (machine) => machine.settings({ agents: [] }),
  },
  {
    title: 'settings that do not parse',
    args: ['-p', 'x'],
    code: 2,
    kind: 'usage',
    prepare: (machine) => machine.settings('{ "agents": [ }'),
  },
  {
    title: 'a setting with a bad value',
    args: ['-p', 'x'],
    code: 2,
    kind: 'usage',
    prepare: (machine) => machine.settings({ leash: 'loose', agents: [] }),
  },
  {
    title: 'a session that exists already',
    args: ['-p', 'x', '--new', '--session', 'plan'],
    code: 2,
    kind: 'usage',
  },
  {
    title: 'stdin that cannot be read',
    args: ['-p', '-'],
    code: 2,
    kind: 'usage',
    stdin: '/',
  },
  {
    title: 'a home that is a file',
    args: ['-p', 'x'],
    code: 2,
    kind: 'usage',
    prepare(machine) {
      rmSync(machine.home, { recursive: true, force: true })
      writeFileSync(machine.home, '')
    },
  },
  {
    title: 'a store that cannot be written',
    args: ['-p', 'x'],
    code: 1,
    kind: 'store',
    prepare(machine) {
      rmSync(join(machine.home, 'projects'), { recursive: true })
      writeFileSync(join(machine.home, 'projects'), '')
    },
  },
]

async function ranOn(t: TestContext, { args, prepare, env, stdin = '/dev/null' }: Case, format: string) {
  const machine = new Machine(t)
  machine.agents(agents)
  if (prepare || args.includes('--session')) await machine.run(['-p', 'first', '--session', 'plan'])
  prepare?.(machine)
  const input = openSync(stdin, 'r')
  const child = machine.own(
    spawn(start[0], [...start.slice(1), ...args, '--output-format', format], {
      cwd: machine.project,
      env: {
        PATH: process.env.PATH!,
        HOME: join(machine.folder, 'home'),
        TERMAITE_HOME: machine.home,
        TERMAITE_KEYCHAIN: 'off',
        NODE_COMPILE_CACHE: codeCache,
        ...env,
      },
      stdio: [input, 'pipe', 'pipe'],
    }),
  )
  closeSync(input)
  const { code, out, err } = await ended(child)
  const plain = (text: string) =>
    text
      .replaceAll(machine.home, 'HOME')
      .replaceAll(machine.project, 'PROJECT')
      .replace(/(?<=projects\/)[^/]+/, 'SLUG')
  return { code, out: plain(out), err: plain(err) }
}

for (const one of cases)
  test(`a program that asked for JSON gets it: ${one.title}`, async (t) => {
    const { code, kind } = one
    const whole = await ranOn(t, one, 'json')
    const printed = JSON.parse(whole.out) as { failure: { kind: string } }
    assert.deepEqual([whole.code, printed.failure.kind], [code, kind])
    golden(t, printed)
    golden(t, whole.err)
    const lines = await ranOn(t, one, 'stream-json')
    const { at, ...line } = JSON.parse(lines.out) as { at: number }
    assert.deepEqual(
      [lines.code, typeof at, line],
      [code, 'number', { type: 'end', by: 'termaite', outcome: { ok: false, failure: printed.failure } }],
    )
  })

test('where the shell allows few open files, each command says so in one sentence and how to raise the limit', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux tells a process how many files it may open')
  const machine = new Machine(t)
  machine.agents(agents)
  const limited = async (most: number, ...args: string[]) => {
    const words = ['-c', `ulimit -n ${most} && exec "$@"`, 'bash', ...start, ...args]
    const child = spawn('bash', words, {
      cwd: machine.project,
      env: { PATH: process.env.PATH!, HOME: join(machine.folder, 'home'), TERMAITE_HOME: machine.home },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { code, out, err } = await ended(machine.own(child))
    return { code, out, err }
  }
  golden(t, await limited(24, '-p', 'x'))
  const { err } = await limited(24, '-p', 'x')
  for (const args of [[], ['doctor'], ['sessions'], ['--ephemeral', '-p', 'x']])
    assert.deepEqual(await limited(24, ...args), { code: 1, out: '', err }, args.join(' '))
  assert.deepEqual([(await limited(24, '--version')).code, (await limited(24, '--help')).code], [0, 0])
  assert.deepEqual((await limited(64, '-p', 'x')).out, 'the answer\n')
})
