import { test } from 'node:test'
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allProfiles } from '../../src/profiles/all.ts'
import { Machine } from './program.ts'

const good = 'cat >/dev/null; echo the answer'

/** One clear sentence on stderr, nothing on stdout, and the right code. */
async function refuses(machine: Machine, args: string[], code: number, sentence: string | RegExp): Promise<void> {
  const ran = await machine.run(args)
  assert.deepEqual({ code: ran.code, out: ran.out }, { code, out: '' })
  const isSettings = typeof sentence === 'string' && /(?:settings\.json|config\.yaml):\d/.test(sentence)
  const next = isSettings ? 'To edit the settings: termaite config edit\n' : ''
  if (typeof sentence === 'string') assert.equal(ran.err, `termaite: ${sentence}\n${next}`)
  else assert.match(ran.err, sentence)
}

test('without any settings, termaite says how to begin', async (t) => {
  const machine = new Machine(t)
  await refuses(
    machine,
    ['-p', 'x'],
    2,
    'no agent is configured yet. Run `termaite setup` to find the agents on this machine, or `termaite demo` to see it work without any.',
  )
})

test('a typo in the settings names file, line, key, and the setting that was meant', async (t) => {
  const machine = new Machine(t)
  machine.settings('{\n  // mine\n  "rotationStratgy": "random",\n  "agents": [],\n}\n')
  await refuses(
    machine,
    ['-p', 'x'],
    2,
    `${machine.home}/settings.json:3: rotationStratgy: unknown key; did you mean "rotationStrategy"?`,
  )
})

test('each wrong value names what was found and what is allowed', async (t) => {
  const machine = new Machine(t)
  const file = `${machine.home}/settings.json`
  const cases: [string, string][] = [
    [
      '{\n"rotationStrategy": "fastest"}',
      `${file}:2: rotationStrategy: found "fastest", allowed: one of "round-robin", "exhaustion", "random", "measured".`,
    ],
    [
      '{"agents": [\n{"name": "a", "command": "x", "contextWindowTokens": "big"}]}',
      `${file}:2: agents[0].contextWindowTokens: found "big", allowed: a whole number of 1 or more.`,
    ],
    [
      '{"agents": [\n{"name": "a", "command": "x"}]}',
      `${file}:2: agents[0].contextWindowTokens: missing; a whole number of 1 or more is needed.`,
    ],
    [
      '{"agents": [{"name": "a", "command": "x", "contextWindowTokens": 1},\n{"name": "a", "command": "y", "contextWindowTokens": 1}]}',
      `${file}:2: agents[1].name: found "a" twice, allowed: a name no other agent has.`,
    ],
    [
      '{"agents": [{"name": "a", "contextWindowTokens": 1}]}',
      `${file}:1: agents[0].command: missing; a command, or the profile of a known CLI, is needed.`,
    ],
    ['{"agents": [}', `${file}:1: is not JSON: value expected.`],
    [
      '{"agents": [\n{"name": "a", "profile": "cluade",\n "contextWindowTokens": 1}]}',
      `${file}:2: agents[0].profile: found "cluade"; did you mean "claude"?`,
    ],
    [
      '{"agents": [{"name": "a", "profile": "x", "contextWindowTokens": 1}]}',
      `${file}:1: agents[0].profile: found "x", allowed: one of ${[...allProfiles().map(({ name }) => name), 'custom'].map((name) => `"${name}"`).join(', ')}.`,
    ],
    [
      '{"agents": [{"name": "a", "profile": "custom", "contextWindowTokens": 1}]}',
      `${file}:1: agents[0].command: missing; a command, or the profile of a known CLI, is needed.`,
    ],
    [
      '{"agents": [\n{"name": "a", "command": " ", "contextWindowTokens": 1}]}',
      `${file}:2: agents[0].command: found " ", allowed: a string that is not empty.`,
    ],
    [
      '{"agents": {\n"my agent": {"command": "x"}}}',
      `${file}:2: agents.my agent: found "my agent", allowed: letters, digits, ".", "_" and "-", without a "-" at its beginning.`,
    ],
    [
      '{"agents": {"user": {"command": "x"}}}',
      `${file}:1: agents.user.name: found "user", allowed: any name but auto, user and termaite.`,
    ],
    ['{"timeoutSeconds": -1}', `${file}:1: timeoutSeconds: found -1, allowed: a number above 0.`],
  ]
  for (const [settings, sentence] of cases) {
    machine.settings(settings)
    await refuses(machine, ['-p', 'x'], 2, sentence)
  }
})

test('a settings file that cannot be read says why and what to do', async (t) => {
  const machine = new Machine(t)
  mkdirSync(join(machine.home, 'settings.json'), { recursive: true })
  const next = 'cannot be read: it is a folder; move it away, then run `termaite setup`.'
  await refuses(machine, ['-p', 'x'], 2, `${machine.home}/settings.json: ${next}`)
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
  const warnings = ['args of e is not used without a command.', 'model of b is not used with a command.']
  const ran = await machine.call(['-p', 'x', '--ephemeral'])
  const said = ran.err.split('\n').filter((line) => line.startsWith('termaite: '))
  assert.deepEqual({ out: ran.out, said }, { out: 'the answer\n', said: warnings.map((words) => `termaite: ${words}`) })
  const { out } = await machine.call(['config', 'validate', '--json'])
  assert.deepEqual(JSON.parse(out), { ok: true, agents: 5, warnings })
})

test('agents that are all switched off are not "none configured"', async (t) => {
  const machine = new Machine(t)
  const words =
    'every agent is disabled, by your settings or by those of the project (.termaite/settings.json): a, b. Enable one with: termaite config edit'
  machine.settings({ agents: ['a', 'b'].map((name) => ({ name, ...agent, enabled: false })) })
  await refuses(machine, ['-p', 'x'], 2, words)
  assert.equal((await machine.call(['config', 'validate'])).out, `The settings are valid, but ${words}\n`)
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
  await refuses(machine, ['-p', 'x'], 2, /config\.yaml:\d+: is not YAML: /)
})

test('bad usage is one sentence and exit 2', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good })
  await refuses(machine, ['-p', 'x', '-a', 'nobody'], 2, 'there is no agent "nobody"; configured: good.')
  await refuses(
    machine,
    ['-p', 'x', '-r', 'fastest'],
    2,
    '--rotation: found "fastest", allowed: round-robin, exhaustion, random, measured.',
  )
  await refuses(machine, ['-p', 'x', '--nosuch'], 2, /^termaite: there is no flag --nosuch\. See: termaite --help\n$/)
  await refuses(machine, ['-p', '  '], 2, 'the prompt is empty. Give one: termaite -p "why does the build fail?"')
  await refuses(
    machine,
    ['-p', 'x', '--max-tokens', 'many'],
    2,
    '--max-tokens: found "many", allowed: a number above 0, as in 50000 or 50k.',
  )
  await refuses(
    machine,
    ['-p', 'x', '--cwd', 'nowhere'],
    2,
    /^termaite: --cwd: there is no folder \S+nowhere\. Make it, or name another\.\n$/,
  )
  await refuses(machine, ['--continue', '-p', 'x'], 2, /no project was used yet/)
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
  assert.match(err, /^termaite: 1 line of this conversation could not be read and was skipped; the rest is there\.$/m)
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
  assert.match(
    err,
    /the next call needs about \d+ tokens, but only 500 of 500 are left; raise --max-tokens to continue/,
  )
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
