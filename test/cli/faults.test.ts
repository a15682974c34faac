import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const good = 'cat >/dev/null; echo the answer'

/** One clear sentence on stderr, nothing on stdout, and the right code. */
async function refuses(t: TestContext, machine: Machine, args: string[], code: number): Promise<void> {
  const ran = await machine.run(args)
  assert.deepEqual({ code: ran.code, out: ran.out }, { code, out: '' })
  golden(t, ran.err, { [machine.folder]: '<machine>' })
}

test('without any settings, termaite says how to begin', async (t) => {
  const machine = new Machine(t)
  await refuses(t, machine, ['-p', 'x'], 2)
})

test('a typo in the settings names file, line, key, and the setting that was meant', async (t) => {
  const machine = new Machine(t)
  machine.settings('{\n  // mine\n  "rotationStratgy": "random",\n  "agents": [],\n}\n')
  await refuses(t, machine, ['-p', 'x'], 2)
})

test('each wrong value names what was found and what is allowed', async (t) => {
  const machine = new Machine(t)
  const cases: string[] = [
    '{\n"rotationStrategy": "fastest"}',
    '{"agents": [\n{"name": "a", "command": "x", "contextWindowTokens": "big"}]}',
    '{"agents": [\n{"name": "a", "command": "x"}]}',
    '{"agents": [{"name": "a", "command": "x", "contextWindowTokens": 1},\n{"name": "a", "command": "y", "contextWindowTokens": 1}]}',
    '{"agents": [{"name": "a", "contextWindowTokens": 1}]}',
    '{"agents": [}',
    '{"agents": [\n{"name": "a", "profile": "cluade",\n "contextWindowTokens": 1}]}',
    '{"agents": [{"name": "a", "profile": "x", "contextWindowTokens": 1}]}',
    '{"agents": [{"name": "a", "profile": "custom", "contextWindowTokens": 1}]}',
    '{"agents": [\n{"name": "a", "command": " ", "contextWindowTokens": 1}]}',
    '{"agents": {\n"my agent": {"command": "x"}}}',
    '{"agents": {"user": {"command": "x"}}}',
    '{"timeoutSeconds": -1}',
  ]
  for (const settings of cases) {
    machine.settings(settings)
    await refuses(t, machine, ['-p', 'x'], 2)
  }
})

test('a settings file that cannot be read says why and what to do', async (t) => {
  const machine = new Machine(t)
  mkdirSync(join(machine.home, 'settings.json'), { recursive: true })
  await refuses(t, machine, ['-p', 'x'], 2)
})

test('a mark that an editor put before the text is no fault', async (t) => {
  const machine = new Machine(t)
  machine.settings(`\uFEFF${JSON.stringify({ agents: [{ name: 'a', command: good, contextWindowTokens: 1000 }] })}`)
  assert.equal((await machine.run(['-p', 'x', '--ephemeral'])).out, 'the answer\n')
})

const agent = { command: good, contextWindowTokens: 1000 }

test('settings that are accepted and not used are reported once each, in a run and by validate', async (t) => {
  const machine = new Machine(t)
  machine.settings({
    permissions: { deny: ['Bash(rm *)'] },
    hooks: { PreCompact: [] },
    mcpServers: {},
    thinking: 'off',
    terminals: {},
    crew: {},
    hub: {},
    notify: [],
    agents: [
      { name: 'a', ...agent },
      { name: 'b', ...agent, kind: 'screen', idle_pattern: '>', model: 'm' },
      { name: 'c', ...agent, kind: 'acp' },
      { name: 'd', kind: 'native', contextWindowTokens: 1000 },
      { name: 'e', profile: 'claude', args: ['-x'], contextWindowTokens: 1000 },
      { name: 'f', ...agent, kind: 'acp', enabled: false },
    ],
  })
  const ran = await machine.call(['-p', 'x', '--ephemeral'])
  const said = ran.err.split('\n').filter((line) => line.startsWith('termaite: '))
  golden(t, { out: ran.out, said })
  const { out } = await machine.call(['config', 'validate', '--json'])
  golden(t, JSON.parse(out))
})

test('agents that are all switched off are not "none configured"', async (t) => {
  const machine = new Machine(t)
  machine.settings({ agents: ['a', 'b'].map((name) => ({ name, ...agent, enabled: false })) })
  await refuses(t, machine, ['-p', 'x'], 2)
  golden(t, (await machine.call(['config', 'validate'])).out)
})

test('a yaml file beside it means the same, and where the two disagree one warning names file and key', async (t) => {
  const machine = new Machine(t)
  machine.settings({ rotationStrategy: 'random' })
  writeFileSync(
    join(machine.home, 'config.yaml'),
    `rotationStrategy: exhaustion\nagents:\n  good:\n    kind: pipe\n    command: "${good}"\n`,
  )
  const { code, out, err } = await machine.call(['-p', 'x'])
  assert.deepEqual({ code, out }, { code: 0, out: 'the answer\n' })
  const warning = `termaite: ${machine.home}/config.yaml and ${machine.home}/settings.json disagree on rotationStrategy; ${machine.home}/settings.json is used.\n`
  assert.ok(err.startsWith(warning), err)
  writeFileSync(join(machine.home, 'config.yaml'), 'agents:\n  - name: [\n')
  await refuses(t, machine, ['-p', 'x'], 2)
})

test('bad usage is one sentence and exit 2', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good })
  await refuses(t, machine, ['-p', 'x', '-a', 'nobody'], 2)
  await refuses(t, machine, ['-p', 'x', '-r', 'fastest'], 2)
  await refuses(t, machine, ['-p', 'x', '--nosuch'], 2)
  await refuses(t, machine, ['-p', '  '], 2)
  await refuses(t, machine, ['-p', 'x', '--max-tokens', 'many'], 2)
  await refuses(t, machine, ['-p', 'x', '--cwd', 'nowhere'], 2)
  await refuses(t, machine, ['--continue', '-p', 'x'], 2)
})

test('a corrupt line is skipped with one warning, and the rest is read', async (t) => {
  const machine = new Machine(t)
  machine.agents({ echo: 'cat' }, { metaInstruction: false })
  await machine.call(['-p', 'first'])
  const [slug] = readdirSync(join(machine.home, 'projects'))
  appendFileSync(join(machine.home, 'projects', slug!, 'history.jsonl'), '{"id": "torn, and\n')
  const { code, out, err } = await machine.call(['-p', 'second'])
  assert.equal(code, 0)
  assert.match(out, /<message from="user">\nfirst\n<\/message>/)
  golden(t, untimed(err))
})

test('a missing command and an empty answer are attempts that say what to do', async (t) => {
  const machine = new Machine(t)
  machine.agents({ gone: 'no-such-agent-cli --now', mute: 'cat >/dev/null', good })
  const { code, out, err } = await machine.call(['-p', 'x'])
  assert.deepEqual({ code, out }, { code: 0, out: 'the answer\n' })
  assert.match(err, /^gone could not be run/m)
  assert.match(err, /^mute gave an empty answer/m)
})

test('a home that cannot be made is one sentence, exit 1, and no agent is started', async (t) => {
  const machine = new Machine(t)
  writeFileSync(join(machine.folder, 'file'), '')
  mkdirSync(machine.home)
  const witness = join(machine.folder, 'ran')
  machine.agents({ good: `touch ${witness}; echo hi` })
  writeFileSync(join(machine.home, 'projects'), 'not a folder')
  const { code, out, err } = await machine.call(['-p', 'x'])
  assert.deepEqual({ code, out, ran: existsSync(witness) }, { code: 1, out: '', ran: false })
  assert.match(err, /^termaite: .*projects.*\n$/)
})

test('stdin is the prompt, or context beside one', async (t) => {
  const machine = new Machine(t)
  machine.agents({ echo: 'cat' }, { metaInstruction: false })
  const alone = await machine.call(['-p', '-', '--ephemeral'], { input: 'from a pipe' })
  assert.equal(alone.out, '<message from="user">\nfrom a pipe\n</message>\n')
  const beside = await machine.call(['-p', 'review', '--ephemeral'], { input: 'a diff' })
  assert.equal(beside.out, '<message from="user">\nreview\n\n<stdin>\na diff\n</stdin>\n</message>\n')
  assert.equal(existsSync(join(machine.home, 'projects')), false, 'ephemeral keeps nothing')
})

test('a budget refuses the call beyond it', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good })
  const { code, out, err } = await machine.call(['-p', 'x'.repeat(4_000), '--max-tokens', '500'])
  assert.deepEqual({ code, out }, { code: 1, out: '' })
  golden(t, err)
})

test('every command has help with an example', async (t) => {
  const machine = new Machine(t)
  const overview = (await machine.call(['--help'])).out
  const names = [...overview.matchAll(/^ {2}termaite ([a-z]+) /gm)].map((match) => match[1]!)
  assert.ok(names.length >= 15)
  for (const name of names) {
    const { code, out } = await machine.call([name, '--help'])
    assert.equal(code, 0)
    assert.match(out, new RegExp(`Examples?:\\n  .*termaite`))
  }
})
