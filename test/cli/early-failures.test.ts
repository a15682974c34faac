import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeCache, ended, Machine, start } from './program.ts'

const agents = { good: 'cat >/dev/null; echo the answer' }

type Case = {
  title: string
  args: string[]
  code: number
  kind: string
  /** The message; HOME and PROJECT stand for the folders of the machine. */
  message: string
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
    message: 'there is no flag --colour. See: termaite --help',
  },
  {
    title: 'a flag without its value',
    args: ['-p', '--leash', 'read'],
    code: 2,
    kind: 'usage',
    message: '-p needs a <text>, but the flag "--leash" follows. To use that as the value, write --prompt="--leash".',
  },
  {
    title: 'a bad value of a flag',
    args: ['-p', 'x', '--leash', 'loose'],
    code: 2,
    kind: 'usage',
    message: '--leash: found "loose", allowed: read, ask, edit, all.',
  },
  {
    title: 'a bad number',
    args: ['-p', 'x', '--max-cost', 'much'],
    code: 2,
    kind: 'usage',
    message: '--max-cost: found "much", allowed: a number above 0.',
  },
  {
    title: 'a bad rule',
    args: ['-p', 'x', '--deny', 'bash('],
    code: 2,
    kind: 'usage',
    message: '--deny: "bash(" is not a rule: the closing ) is missing.',
  },
  {
    title: 'an empty prompt',
    args: ['-p', ' '],
    code: 2,
    kind: 'usage',
    message: 'the prompt is empty. Give one: termaite -p "why does the build fail?"',
  },
  {
    title: 'two flags that exclude each other',
    args: ['-p', 'x', '--exclusive', '--ephemeral'],
    code: 2,
    kind: 'usage',
    message: '--exclusive and --ephemeral cannot be combined: a turn that keeps nothing cannot wait for others.',
  },
  {
    title: 'a folder that is not there',
    args: ['-p', 'x', '--cwd', 'nowhere'],
    code: 2,
    kind: 'usage',
    message: '--cwd: there is no folder PROJECT/nowhere. Make it, or name another.',
  },
  {
    title: 'no project to continue',
    args: ['-p', 'x', '--continue'],
    code: 2,
    kind: 'usage',
    message: '--continue: no project was used yet. Start one: termaite -p "what is this project?"',
  },
  {
    title: 'an unknown agent',
    args: ['-p', 'x', '-a', 'nobody'],
    code: 2,
    kind: 'usage',
    message: 'there is no agent "nobody"; configured: good.',
  },
  {
    title: 'no agents',
    args: ['-p', 'x'],
    code: 2,
    kind: 'usage',
    message:
      'no agent is configured yet. Run `termaite setup` to find the agents on this machine, or `termaite demo` to see it work without any.',
    prepare: (machine) => machine.settings({ agents: [] }),
  },
  {
    title: 'settings that do not parse',
    args: ['-p', 'x'],
    code: 2,
    kind: 'usage',
    message: 'HOME/settings.json:1: is not JSON: value expected.',
    prepare: (machine) => machine.settings('{ "agents": [ }'),
  },
  {
    title: 'a setting with a bad value',
    args: ['-p', 'x'],
    code: 2,
    kind: 'usage',
    message: 'HOME/settings.json:1: leash: found "loose", allowed: one of "read", "ask", "edit", "all".',
    prepare: (machine) => machine.settings({ leash: 'loose', agents: [] }),
  },
  {
    title: 'a session that exists already',
    args: ['-p', 'x', '--new', '--session', 'plan'],
    code: 2,
    kind: 'usage',
    message: '--new: the session "plan" exists already; leave --new out to continue it, or choose another name.',
  },
  {
    title: 'stdin that cannot be read',
    args: ['-p', '-'],
    code: 2,
    kind: 'usage',
    message: 'stdin could not be read: EISDIR: illegal operation on a directory, read. Use a file or a pipe.',
    stdin: '/',
  },
  {
    title: 'a home that is a file',
    args: ['-p', 'x'],
    code: 2,
    kind: 'usage',
    message: 'HOME/settings.json: cannot be read: its folder is a file; set TERMAITE_HOME to a folder.',
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
    message:
      'cannot read HOME/projects/SLUG/project.json: a file or folder of another kind is in the way; move it and try again',
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
    const { code, kind, message } = one
    const whole = await ranOn(t, one, 'json')
    assert.deepEqual(
      [whole.code, JSON.parse(whole.out)],
      [
        code,
        {
          ok: false,
          agent: '',
          text: '',
          failure: { kind, message },
          attempts: [],
          denials: [],
          usage: null,
          session: null,
          project: null,
        },
      ],
    )
    const next = /settings\.json:\d/.test(message) ? 'To edit the settings: termaite config edit\n' : ''
    assert.equal(whole.err, `termaite: ${message}\n${next}`)
    const lines = await ranOn(t, one, 'stream-json')
    const { at, ...line } = JSON.parse(lines.out) as { at: number }
    assert.deepEqual(
      [lines.code, typeof at, line],
      [code, 'number', { type: 'end', by: 'termaite', outcome: { ok: false, failure: { kind, message } } }],
    )
  })
