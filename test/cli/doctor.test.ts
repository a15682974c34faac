import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forbiddenSandbox, noSandbox } from '../safety/no-sandbox.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Row = Record<string, unknown>
const good = 'cat >/dev/null; echo OK'

test('doctor lists the agents that work and the next step for the others; exit 1 if none works', async (t) => {
  const machine = new Machine(t)
  const env = machine.install([])
  machine.settings({
    agents: [
      { name: 'good', command: 'cat >/dev/null; echo OK', contextWindowTokens: 1000 },
      { name: 'claude', profile: 'claude', contextWindowTokens: 1000 },
    ],
  })
  const { code, out } = await machine.run(['doctor', '--json'], { env })
  const [good, claude] = JSON.parse(out) as Record<string, unknown>[]
  assert.equal(code, 0)
  golden(t, [good!.works, good!.answers, good!.mayDo])
  assert.deepEqual(
    [claude!.works, claude!.installed, claude!.next],
    [false, false, 'install it: npm install -g @anthropic-ai/claude-code'],
  )
  assert.equal((await machine.run(['doctor', 'claude'], { env })).code, 1)
  assert.equal((await machine.run(['doctor', 'nobody'], { env })).code, 2)
})

test('a command whose program is no file is left to the shell, and only the turn tells whether it is there', async (t) => {
  const machine = new Machine(t)
  machine.agents({ word: `say() { ${good}; }; say`, gone: 'no-such-agent-cli --now' })
  const { code, out } = await machine.call(['doctor', '--json'])
  const rows = (JSON.parse(out) as Row[]).map(({ name, installed, answers, next }) => [name, installed, answers, next])
  golden(t, { code, rows })
})

test('--quick finds the program of a plain command as a turn would, and asks no agent', async (t) => {
  const machine = new Machine(t)
  const env = machine.install(['agentcli'])
  const asked = join(machine.folder, 'asked')
  machine.settings({
    agents: [
      { name: 'there', command: 'KEY=1 agentcli --now' },
      { name: 'path', command: `${machine.folder}/bin/agentcli --now` },
      { name: 'word', command: `say() { touch ${asked}; }; say` },
      { name: 'builtin', command: 'read -r line' },
      { name: 'gone', command: 'nosuchprog --x' },
      { name: 'away', command: '/nowhere/agentcli --x' },
      { name: 'argv', command: 'nosuchprog', args: ['--x'] },
      { name: 'claude', command: 'claude -p' },
    ].map((agent) => ({ ...agent, contextWindowTokens: 1000 })),
  })
  const { out } = await machine.call(['doctor', '--quick', '--json'], { env })
  const rows = (JSON.parse(out) as Row[]).map(({ name, installed, works, next }) => [
    name,
    installed !== false,
    works,
    next,
  ])
  golden(t, rows)
  assert.equal(existsSync(asked), false)
  assert.equal((await machine.call(['doctor', '--quick', 'gone'], { env })).code, 1)
})

test('--quick shows an agent that is known to be out of quota, and does not count it as one that works', async (t) => {
  const machine = new Machine(t)
  machine.agents({ spent: 'cat >/dev/null; echo "usage limit reached" >&2; exit 1' })
  assert.equal((await machine.call(['-p', 'x'])).code, 75)
  const { code, out } = await machine.call(['doctor', '--quick', '--verbose'])
  assert.equal(code, 1)
  assert.match(out, /^! spent$/m)
  assert.match(out, /^ +quota +out of quota until /m)
  assert.match((await machine.call(['doctor', '--quick'])).out, /^! spent: out of quota until /m)
})

test('the report names the agents that it asks, and the reason why an agent takes no turns', async (t) => {
  const machine = new Machine(t)
  const env = machine.install(['amp'])
  const amp = { profile: 'amp', contextWindowTokens: 1000 }
  machine.settings({
    agents: [
      { name: 'good', command: good, contextWindowTokens: 1000 },
      { name: 'off', command: good, contextWindowTokens: 1000, enabled: false },
      { name: 'tight', ...amp },
      { name: 'free', ...amp, leash: 'all' },
    ],
  })
  const one = await machine.call(['doctor', 'good'], { env })
  assert.equal(one.err, 'Asking good for one word; --quick skips this.\n')
  const all = await machine.call(['doctor', '--verbose'], { env })
  golden(t, all.err)
  assert.deepEqual(
    all.out.split('\n').filter((line) => /^[✓○✗!]/.test(line)),
    ['✓ good', '○ off (switched off)', '✗ tight', '✓ free'],
  )
  const rows = JSON.parse((await machine.call(['doctor', '--json'], { env })).out) as Row[]
  assert.deepEqual(
    rows.map(({ enabled }) => enabled),
    [true, false, true, true],
  )
  golden(
    t,
    rows.map(({ name, answers, works, next }) => [name, answers, works, next]),
  )
})

/** Agents of every standing; more of those that are not installed than a screen has room for. */
const many = (missing: number) => ({
  agents: [
    { name: 'good', command: good },
    { name: 'off', command: good, enabled: false },
    { name: 'crash', command: `cat >/dev/null; echo ${'very '.repeat(40)}wrong >&2; exit 1` },
    { name: 'gpt', kind: 'native', model: 'openai/gpt-5' },
    ...Array.from({ length: missing }, (_, at) => ({ name: `missing-${at}`, command: `/nowhere/agent-${at}` })),
  ].map((agent) => ({ ...agent, contextWindowTokens: 1000 })),
})

for (const missing of [1, 30])
  test(`the report is one screen with ${missing} broken agents: problems and next steps first`, async (t) => {
    const machine = new Machine(t)
    machine.settings(many(missing))
    const { code, out } = await machine.call(['doctor'], { env: forbiddenSandbox(machine.folder) })
    const rows = out.trimEnd().split('\n')
    assert.deepEqual([code, rows.length <= 21, rows.every((row) => [...row].length <= 80)], [0, true, true], out)
    // Which language servers a machine has is its own matter.
    golden(t, out.replace(/^. (Language servers: ).*$/m, '$1…'))
  })

test('an agent that answers the doctor is back in the rotation', async (t) => {
  const machine = new Machine(t)
  const spent = join(machine.folder, 'spent')
  writeFileSync(spent, '')
  machine.agents({ a: `cat >/dev/null; [ -e ${spent} ] && { echo "usage limit reached" >&2; exit 1; }; echo OK` })
  const parked = await machine.call(['-p', 'x'])
  assert.deepEqual([parked.code, /termaite doctor/.test(parked.err)], [75, true], parked.err)
  const away = await machine.call(['doctor', '-v'])
  assert.equal(away.code, 1)
  assert.match(
    away.out,
    /^ +quota +out of quota until .*; a takes turns again after that, or as soon as it answers termaite doctor$/m,
  )
  rmSync(spent)
  assert.equal((await machine.call(['-p', 'x'])).code, 75)
  const [row] = JSON.parse((await machine.call(['doctor', '--json'])).out) as Row[]
  assert.match(String(row!.quota), /^was out of quota until .*; a answers again, so it takes turns again from now on$/)
  assert.deepEqual(machine.health(), { agents: {} })
  assert.equal((await machine.call(['-p', 'x'])).code, 0)
})

test('a health file that is none stops neither a turn nor the doctor, and is set aside once', async (t) => {
  const machine = new Machine(t)
  machine.agents({ a: good })
  const file = join(machine.home, 'health.json')
  for (const text of ['[]', 'null', '{"agents": {"a": null}}', 'not JSON']) {
    writeFileSync(file, text)
    const turn = await machine.call(['-p', 'x'])
    const doctor = await machine.call(['doctor', '--json'])
    assert.deepEqual([turn.code, turn.out, doctor.code], [0, 'OK\n', 0], text)
    assert.match(
      turn.err,
      new RegExp(`${file} was damaged\\. It was set aside as ${file}\\.\\S+\\.broken, and a new one`),
    )
    assert.doesNotMatch(doctor.err, /damaged/)
    golden(
      t,
      (JSON.parse(doctor.out) as Row[]).map(({ works, quota }) => [works, quota]),
    )
  }
  writeFileSync(file, '{}')
  const turn = await machine.call(['-p', 'x'])
  assert.deepEqual([turn.code, /health/.test(turn.err)], [0, false], turn.err)
})

test('doctor --security finds a key in the settings, files that others can read, and what came with the project', async (t) => {
  const machine = new Machine(t)
  machine.settings({
    agents: [
      { name: 'b', command: 'codex', args: ['exec', '--yolo'], contextWindowTokens: 1000 },
      { name: 'c', command: 'claude -p --yolo', contextWindowTokens: 1000 },
      { name: 'a', command: 'x --yolo', env: { API_KEY: `sk-ant-api03-${'a'.repeat(40)}` }, contextWindowTokens: 1000 },
    ],
  })
  mkdirSync(join(machine.project, '.qwen'))
  writeFileSync(join(machine.project, '.qwen', 'settings.json'), '{"hooks":{}}')
  const { code, out } = await machine.call(['doctor', '--security', '--json'])
  const findings = JSON.parse(out) as { level: string; words: string }[]
  assert.equal(code, 1)
  assert.deepEqual(
    findings
      .slice(findings.findIndex(({ words }) => words.startsWith('b ')))
      .filter(({ level }) => level === 'look')
      .map(({ words }) => words),
    [
      'b runs with a flag that switches its own safety off: codex exec --yolo',
      'a runs with a flag that switches its own safety off: x --yolo',
      ...(noSandbox ? [`without a sandbox, so only their own flags restrict them: b, c, a (${noSandbox})`] : []),
      '.qwen/settings.json comes with this project and may start programs or steer an agent: read it before you trust it',
    ],
  )
  golden(
    t,
    findings
      .filter(({ level }) => level === 'mend')
      .map(({ words }) => words)
      .join('\n'),
    { [machine.folder]: '<machine>' },
  )
})

test('doctor --security tries the promises of the sandbox also where no agent is set up', async (t) => {
  const machine = new Machine(t)
  const { code, out } = await machine.call(['doctor', '--security', '--json'])
  assert.equal(code, 0, out)
  const findings = JSON.parse(out) as { level: string; words: string }[]
  const promises = findings.filter(({ words }) => /^(?:held: |not held without |not tried, )/.test(words))
  assert.deepEqual([promises.length, new Set(promises.map(({ level }) => level)).size], [11, 1])
  assert.equal(promises[0]!.level, noSandbox ? 'look' : 'ok')
})

test('doctor says what the sandbox means for the agents; without one, why there is none and what holds instead', async (t) => {
  const machine = new Machine(t)
  const native = { kind: 'native', model: 'ollama/qwen3:8b', contextWindowTokens: 200_000 }
  machine.settings({
    agents: [
      { ...native, name: 'asks' },
      { ...native, name: 'reads', leash: 'read' },
      { name: 'other', command: good, contextWindowTokens: 1000 },
    ],
  })
  const said = async (agents: readonly string[], env: Record<string, string>) => {
    const { out } = await machine.call(['doctor', '--quick', '--verbose', ...agents], { env })
    return out.slice(out.indexOf('Sandbox on this machine:'))
  }
  for (const agents of [[], ['reads'], ['other']]) golden(t, await said(agents, forbiddenSandbox(machine.folder)))
  if (noSandbox) return
  golden(t, await said([], {}))
  assert.equal((await said(['other'], {})).includes('Sandbox on'), false)
})

test('doctor names the place of our own agent’s key, never the key, or how to set one', async (t) => {
  const machine = new Machine(t)
  const native = { kind: 'native', contextWindowTokens: 200_000 }
  machine.settings({
    agents: [
      { ...native, name: 'sonnet', model: 'anthropic/claude-sonnet-4-5' },
      { ...native, name: 'gpt', model: 'openai/gpt-5', apiKeyEnv: 'MY_KEY' },
      { ...native, name: 'local', model: 'ollama/qwen3:8b' },
      { ...native, name: 'odd', model: 'nowhere/x' },
    ],
  })
  const env = { ANTHROPIC_API_KEY: 'made-up-key' }
  const { out } = await machine.call(['doctor', '--quick', '--json'], { env })
  golden(
    t,
    (JSON.parse(out) as Row[]).map(({ name, key, loggedIn, works, next }) => [name, key, loggedIn, works, next]),
  )
  const told = await machine.call(['doctor', 'sonnet', '--quick'], { env })
  assert.match(told.out, /^ {4}key {8}ANTHROPIC_API_KEY$/m)
  assert.ok(!`${out}${told.out}${told.err}`.includes('made-up-key'))
})
