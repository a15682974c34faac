import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { ended, Machine, program } from './program.ts'

/** Programs of that name on the path: each answers its version, and a turn in plain words. */
function installed(machine: Machine, names: string[]): { PATH: string } {
  const bin = join(machine.folder, 'bin')
  mkdirSync(bin)
  for (const name of names)
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\n[ "$1" = --version ] && echo "${name} 1.2.3" && exit\ncat >/dev/null\necho OK\n`,
      { mode: 0o755 },
    )
  return { PATH: [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter) }
}

const settings = (machine: Machine) =>
  JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8')) as Record<string, unknown>

test('setup writes what it found, never overwrites without a yes, and keeps a copy', async (t) => {
  const machine = new Machine(t)
  const env = installed(machine, ['codex', 'claude'])
  const first = await machine.run(['setup'], { env })
  assert.equal(first.code, 0, first.err)
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

const windows: Record<string, number> = { claude: 200_000, codex: 272_000 }

test('setup with nothing installed says what to install', async (t) => {
  const machine = new Machine(t)
  const { code, err } = await machine.run(['setup'], { env: installed(machine, []) })
  assert.equal(code, 1)
  assert.match(
    err,
    /^termaite: no agent CLI is installed here\..*npm install -g @anthropic-ai\/claude-code.*termaite demo/s,
  )
})

const script = spawnSync('script', ['--version']).status === 0
test(
  'in a terminal the person orders the agents, leaves one out and chooses the leash',
  { skip: script ? false : 'there is no script(1) here' },
  async (t) => {
    const machine = new Machine(t)
    const env = installed(machine, ['codex', 'claude', 'gemini'])
    const child = spawn('script', ['-qec', `"${process.execPath}" "${program}" setup`, '/dev/null'], {
      cwd: machine.project,
      env: { ...env, HOME: machine.folder, TERMAITE_HOME: machine.home, TERM: 'xterm' },
    })
    const result = ended(child)
    const answers = ['3 1\r', 'edit\r']
    const questions = [/numbers \(2 1\): /, /read, ask, edit: /]
    let seen = ''
    child.stdout.on('data', (chunk: string) => {
      seen += chunk
      if (questions[0]?.test(seen)) {
        questions.shift()
        seen = ''
        child.stdin.write(answers.shift()!)
      }
    })
    const { code } = await result
    assert.equal(code, 0)
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
  },
)

test('doctor tells what works and what to do about the rest; exit 1 if none works', async (t) => {
  const machine = new Machine(t)
  const env = installed(machine, [])
  machine.settings({
    agents: [
      { name: 'good', command: 'cat >/dev/null; echo OK', contextWindowTokens: 1000 },
      { name: 'claude', profile: 'claude', contextWindowTokens: 1000 },
    ],
  })
  const { code, out } = await machine.run(['doctor', '--json'], { env })
  const [good, claude] = JSON.parse(out) as Record<string, unknown>[]
  assert.equal(code, 0)
  assert.deepEqual(
    [good!.works, good!.answers, good!.mayDo],
    [true, true, 'own flags: the command runs as it is written'],
  )
  assert.deepEqual(
    [claude!.works, claude!.installed, claude!.next],
    [false, false, 'install it: npm install -g @anthropic-ai/claude-code'],
  )
  assert.equal((await machine.run(['doctor', 'claude'], { env })).code, 1)
  assert.equal((await machine.run(['doctor', 'nobody'], { env })).code, 2)
})

test('doctor --security finds a key in the settings and files that others can read', async (t) => {
  const machine = new Machine(t)
  machine.settings({
    agents: [
      { name: 'a', command: 'x --yolo', env: { API_KEY: `sk-ant-api03-${'a'.repeat(40)}` }, contextWindowTokens: 1000 },
    ],
  })
  const { code, out } = await machine.run(['doctor', '--security', '--json'])
  const findings = JSON.parse(out) as { level: string; words: string }[]
  assert.equal(code, 1)
  assert.deepEqual(
    findings.filter(({ level }) => level === 'look').map(({ words }) => words),
    ['a runs with a flag that switches its own safety off: x --yolo'],
  )
  assert.match(
    findings
      .filter(({ level }) => level === 'mend')
      .map(({ words }) => words)
      .join('\n'),
    /a has what looks like a key.*\n.*chmod go-rwx/s,
  )
})

test('completion knows every command and flag', async (t) => {
  const machine = new Machine(t)
  const scriptFile = join(machine.folder, 'completion.bash')
  writeFileSync(scriptFile, (await machine.run(['completion', 'bash'])).out)
  const complete = (...words: string[]) => {
    const line = `source ${scriptFile}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _termaite; echo "\${COMPREPLY[*]}"`
    return spawnSync('bash', ['-c', line], { encoding: 'utf8' }).stdout.trim()
  }
  assert.equal(complete('termaite', 'se'), 'setup sessions')
  assert.equal(complete('termaite', 'sessions', 're'), 'resume rename')
  assert.equal(complete('termaite', '--out'), '--output-format')
})
