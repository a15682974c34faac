import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, Machine, program } from './program.ts'

const settings = (machine: Machine) =>
  JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8')) as Record<string, unknown>

test('setup writes what it found, never overwrites without a yes, and keeps a copy', async (t) => {
  const machine = new Machine(t)
  const env = machine.install(['codex', 'claude'])
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
  const { code, err } = await machine.run(['setup'], { env: machine.install([]) })
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
    const env = machine.install(['codex', 'claude', 'gemini'])
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
