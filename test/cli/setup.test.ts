import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine, start } from './program.ts'
import { inTerminal, typed } from './terminal.ts'
import { goldenOf } from '../golden.ts'
import { withoutSandboxLine } from '../safety/no-sandbox.ts'

const golden = goldenOf(import.meta.filename)

const settings = (machine: Machine) =>
  JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8')) as Record<string, unknown>

test('setup writes what it found, never overwrites without a yes, and keeps a copy', async (t) => {
  const machine = new Machine(t)
  const env = machine.install(['codex', 'claude'])
  const first = await machine.run(['setup'], { env })
  assert.equal(first.code, 0, first.err)
  assert.match(first.out, /settings\.json: turns go to claude → codex, each until it fails\.\n/)
  assert.deepEqual(settings(machine), {
    $schema: './settings.schema.json',
    rotationStrategy: 'exhaustion',
    leash: 'ask',
    agents: ['claude', 'codex'].map((name) => ({ name, profile: name, contextWindowTokens: windows[name] })),
  })
  assert.equal((await machine.run(['config', 'validate'], { env })).code, 0)
  machine.agents({ mine: 'cat' })
  const mine = settings(machine)
  const second = await machine.run(['setup'], { env })
  assert.deepEqual({ code: second.code, now: settings(machine) }, { code: 2, now: mine })
  assert.equal((await machine.run(['setup', '--yes'], { env })).code, 0)
  const copies = readdirSync(machine.home).filter((name) => name.endsWith('.bak'))
  assert.deepEqual(
    copies.map((name) => JSON.parse(readFileSync(join(machine.home, name), 'utf8')) as unknown),
    [mine],
  )
})

test('a config.yaml is settings too: it is replaced with a yes, and a copy is kept', async (t) => {
  const machine = new Machine(t)
  const env = machine.install(['claude'])
  mkdirSync(machine.home)
  const yaml = 'rotationStrategy: random\n'
  writeFileSync(join(machine.home, 'config.yaml'), yaml)
  const asked = await machine.call(['setup'], { env })
  assert.deepEqual([asked.code, readdirSync(machine.home)], [2, ['config.yaml']])
  golden(t, asked.err, { [machine.folder]: '<machine>' })
  assert.equal((await machine.call(['setup', '--yes'], { env })).code, 0)
  const [copy, ...others] = readdirSync(machine.home)
  assert.deepEqual(others, ['settings.json', 'settings.schema.json'])
  assert.match(copy!, /^config\.yaml\..*\.bak$/)
  assert.equal(readFileSync(join(machine.home, copy!), 'utf8'), yaml)
})

test('a CLI that cannot be held to the leash is written down switched off, with a note', async (t) => {
  const machine = new Machine(t)
  const env = machine.install(['amp', 'claude'])
  const { code, out } = await machine.call(['setup'], { env })
  const { agents } = settings(machine) as { agents: { name: string; enabled?: boolean }[] }
  assert.deepEqual(
    [code, agents.map(({ name, enabled }) => [name, enabled ?? true])],
    [
      0,
      [
        ['claude', true],
        ['amp', false],
      ],
    ],
  )
  golden(t, withoutSandboxLine(out), { [machine.folder]: '<machine>' })
  assert.match(out, /settings\.json: turns go to claude\.\n/)
})

test('setup says so when no agent is left to take turns', async (t) => {
  const machine = new Machine(t)
  const { code, out } = await machine.call(['setup'], { env: machine.install(['amp']) })
  assert.equal(code, 1)
  golden(t, withoutSandboxLine(out), { [machine.folder]: '<machine>' })
})

const windows: Record<string, number> = { claude: 200_000, codex: 272_000 }

test('setup with nothing installed says what to install', async (t) => {
  const machine = new Machine(t)
  const { code, err } = await machine.call(['setup'], { env: machine.install([]) })
  assert.equal(code, 1)
  golden(t, err)
})

test('in a terminal the person chooses who takes turns, in which order, and the leash', inTerminal, async (t) => {
  const machine = new Machine(t)
  const keys: [RegExp, string][] = [
    [
      /Which agents, in what order\?\s+1 Claude Code \(suggested\)\s+2 Gemini CLI \(suggested\)\s+3 Codex \(suggested\)\s+Type numbers out of 1, 2, 3 in the order that you want, such as 2 1, or press Enter alone: take what is suggested\. Ctrl\+D: cancel the setup\.\s+> /,
      'nobody\r',
    ],
    [/nobody[^]*Type numbers out of 1, 2, 3 in the order that you want, [^]*> /, '3 1\r'],
    [/1 ask: ask before every action \(suggested\)\s+2 edit: [^]*> /, '2\r'],
  ]
  const { code, out } = await typed(machine, ['setup'], keys, machine.install(['codex', 'claude', 'gemini']))
  assert.equal(code, 0, out)
  const { agents, leash } = settings(machine) as { leash: string; agents: { name: string; enabled?: boolean }[] }
  assert.deepEqual(
    { leash, agents: agents.map(({ name, enabled }) => [name, enabled ?? true]) },
    {
      leash: 'edit',
      agents: [
        ['codex', true],
        ['claude', true],
        ['gemini', false],
      ],
    },
  )
})

test('leaving a question leaves everything as it is', inTerminal, async (t) => {
  const machine = new Machine(t)
  const { code, out } = await typed(
    machine,
    ['setup'],
    [[/Which agents, in what order\?[^]*> /, '\x04']],
    machine.install(['codex', 'claude']),
  )
  assert.deepEqual([code, existsSync(machine.home)], [1, false])
  assert.match(out, /Nothing was changed\./)
})

test('Enter takes the suggested answers, and each question says so', inTerminal, async (t) => {
  const machine = new Machine(t)
  const hint = 'or press Enter alone: take what is suggested\\. Ctrl\\+D: cancel the setup\\.'
  const keys: [RegExp, string][] = [
    [new RegExp(`Which agents, in what order\\?[^]*${hint}\\s+> `), '\r'],
    [
      new RegExp(
        `How much may the agents do\\?\\s+1 ask: ask before every action \\(suggested\\)[^]*Type one of 1, 2, 3, ${hint}\\s+> `,
      ),
      '\r',
    ],
  ]
  const { code, out } = await typed(machine, ['setup'], keys, machine.install(['codex', 'claude']))
  assert.equal(code, 0, out)
  const { agents, leash } = settings(machine) as { leash: string; agents: { name: string }[] }
  assert.deepEqual({ leash, names: agents.map(({ name }) => name) }, { leash: 'ask', names: ['claude', 'codex'] })
})

test('a CLI whose login leaves no trace is not called logged out', async (t) => {
  const machine = new Machine(t)
  const { out } = await machine.call(['setup'], { env: machine.install(['claude']) })
  golden(t, withoutSandboxLine(out), { [machine.folder]: '<machine>' })
})

test('in a terminal the words of the setup are broken between words', inTerminal, async (t) => {
  const machine = new Machine(t)
  const run = `stty cols 60; ${start.map((word) => `'${word}'`).join(' ')} setup`
  const { stdout } = spawnSync('script', ['-qec', run, '/dev/null'], {
    cwd: machine.project,
    env: { ...machine.install([]), HOME: machine.folder, TERMAITE_HOME: machine.home, TERMAITE_KEYCHAIN: 'off' },
    encoding: 'utf8',
  })
  const lines = stdout.split(/\r?\n/)
  golden(t, lines)
  assert.deepEqual(
    lines.filter((line) => line.length > 60),
    [],
  )
})
