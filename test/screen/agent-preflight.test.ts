import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { Machine } from '../cli/program.ts'
import { goldenOf } from '../golden.ts'
import { until } from '../until.ts'
import { ProgramWindow, keys } from './program-window.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }
const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
const nowhere = { TERMAITE_HUB: 'http://127.0.0.1:9' }

/** A machine with a fake CLI as its agent, in a folder that is no repository yet. */
function machineOf(t: TestContext): Machine {
  const machine = new Machine(t)
  const command = [process.execPath, fake, join(machine.folder, 'gate'), 'scroll'].join(' ')
  machine.settings({ leash: 'edit', agents: { fake: { command, idle_pattern: '^> ?$', response_fence: true } } })
  return machine
}

function start(
  t: TestContext,
  machine: Machine,
  args: readonly string[],
  env: Record<string, string> = {},
): ProgramWindow {
  const window = new ProgramWindow(machine, { args: ['agent', ...args], env, size: { cols: 320, rows: 24 } })
  t.after(() => window.end())
  return window
}

/** Everything on a screen before the CLI has it. */
const said = (window: ProgramWindow) =>
  window
    .scrollback()
    .split('\n')
    .map((row) => row.trimEnd())

/** All that lies in a person's home, ours and the project. */
const traces = (machine: Machine) =>
  [join(machine.folder, 'home'), machine.home, machine.project].map((folder) => readdirSync(folder).sort())

async function leaves(window: ProgramWindow): Promise<void> {
  window.type(keys.ctrlC)
  await window.shows('Exit or continue? [e/c]')
  window.type('e\r')
  assert.equal((await window.exited).exitCode, 0)
}

test(
  'a folder without git: yes makes it a repository, no works in it as it is, and Ctrl+C leaves nothing',
  options,
  async (t) => {
    const machine = machineOf(t)
    const before = traces(machine)
    const words = `termaite: ${machine.project} is not in a git repository. With git each task is a branch to review.`
    const stopped = start(t, machine, ['--start=fake'], nowhere)
    await stopped.shows('Run git init here? [y/N]')
    stopped.type(keys.ctrlC)
    assert.equal((await stopped.exited).exitCode, 130)
    assert.deepEqual(said(stopped), [
      words,
      'Run git init here? [y/N]',
      'termaite: there was no answer, so nothing was changed.',
    ])
    assert.deepEqual(traces(machine), before)

    const refused = start(t, machine, ['--start=fake'], nowhere)
    await refused.shows('Run git init here? [y/N]')
    refused.type('n\r')
    await refused.shows('answer 1')
    await leaves(refused)
    assert.match(
      refused.scrollback(),
      new RegExp(`^fake: works in the project folder itself: ${machine.project}$`, 'm'),
    )
    assert.equal(existsSync(join(machine.project, '.git')), false)

    const made = start(t, machine, ['--start=fake'], nowhere)
    await made.shows('Run git init here? [y/N]')
    made.type('y\r')
    await made.shows('answer 1')
    await leaves(made)
    const git = (...args: string[]) => execFileSync('git', args, { cwd: machine.project }).toString()
    assert.deepEqual([git('status', '--porcelain'), git('log', '--format=%s')], ['', 'First commit\n'])
    assert.match(made.scrollback(), /worktrees\/\S+\/agent-fake /)
  },
)

test(
  'the first commit of a new repository has the files that the person agreed to, and none with keys',
  options,
  async (t) => {
    const machine = machineOf(t)
    for (const [name, text] of Object.entries({ 'a.txt': 'a\n', '.env': 'KEY=x\n', 'b [1].txt': 'b\n' }))
      writeFileSync(join(machine.project, name), text)
    const git = (...args: string[]) => execFileSync('git', args, { cwd: machine.project }).toString()
    const asks = async (answer: string) => {
      const window = start(t, machine, ['--start=fake'], nowhere)
      await window.shows('git init here?')
      window.type('y\r')
      await window.shows('begin with them?')
      window.type(answer)
      return window
    }
    const refused = await asks('n\r')
    assert.equal((await refused.exited).exitCode, 1)
    golden(t, said(refused), { [machine.project]: '<project>' })
    rmSync(join(machine.project, '.git'), { recursive: true })
    const made = await asks('y\r')
    await made.shows('answer 1')
    await leaves(made)
    assert.equal(git('ls-tree', '-r', '-z', '--name-only', 'HEAD'), 'a.txt\0b [1].txt\0')
  },
)

test(
  'a repository without a commit gets its first one as a new repository does, or says what to do',
  options,
  async (t) => {
    const machine = machineOf(t)
    for (const name of ['a.txt', '.env', 'staged.txt']) writeFileSync(join(machine.project, name), `${name}\n`)
    const git = (...args: string[]) => execFileSync('git', args, { cwd: machine.project }).toString()
    const begin = () => {
      rmSync(join(machine.project, '.git'), { recursive: true, force: true })
      git('init', '-q')
      git('add', 'staged.txt')
    }
    const committed = () => git('ls-tree', '-r', '-z', '--name-only', 'HEAD')
    begin()
    const { code, err } = await machine.run(['agent', '--start=fake'], { env: nowhere })
    golden(t, { code, err }, { [machine.project]: '<project>' })
    const asked = start(t, machine, ['--start=fake'], nowhere)
    await asked.shows('begin with them?')
    asked.type('y\r')
    await asked.shows('answer 1')
    await leaves(asked)
    assert.equal(committed(), 'a.txt\0staged.txt\0')
    begin()
    const unasked = start(t, machine, ['--start=fake', '--yes'], nowhere)
    await unasked.shows('answer 1')
    await leaves(unasked)
    assert.equal(committed(), 'a.txt\0staged.txt\0')
    golden(
      t,
      said(unasked).find((row) => row.includes('first commit')),
    )
  },
)

test('Enter at the address of the hub means the hub of this machine, at whatever port it runs', options, async (t) => {
  const machine = machineOf(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  const window = start(t, machine, ['--start=fake', '--here'])
  await window.shows('Server address [http://localhost:3456]:')
  window.type('\r')
  await window.shows('answer 1')
  const serving = machine.start(['serve', '--port', '0'])
  t.after(() => serving.kill('SIGKILL'))
  const [line] = (await once(serving.stdout!, 'data')) as [Buffer]
  const key = readFileSync(join(machine.home, 'hub.key'), 'utf8').trim()
  const hub = new HubClient({ url: String(line).trim(), key })
  await until(async () => (await hub.agents()).length === 1)
  await leaves(window)
  const { hub: kept } = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8'))
  assert.equal(kept, undefined)
})

test('an unknown hub is asked for once: its address, and its key without showing it', options, async (t) => {
  const elsewhere = new Machine(t)
  const serving = elsewhere.start(['serve', '--port', '0'])
  t.after(() => serving.kill('SIGKILL'))
  const [line] = (await once(serving.stdout!, 'data')) as [Buffer]
  const url = String(line).trim()
  const key = readFileSync(join(elsewhere.home, 'hub.key'), 'utf8').trim()

  const machine = machineOf(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  const before = traces(machine)
  const stopped = start(t, machine, ['--start=fake', '--here'])
  await stopped.shows('Server address [http://localhost:3456]:')
  stopped.type(`${url}\r`)
  await stopped.shows('API key (optional):')
  stopped.type(`${key.slice(0, 9)}${keys.ctrlC}`)
  assert.equal((await stopped.exited).exitCode, 130)
  assert.deepEqual(traces(machine), before, 'what was half said is not kept')

  const window = start(t, machine, ['--start=fake', '--here'])
  await window.shows('Server address [http://localhost:3456]:')
  window.type(`${url.replace('http://', '')}\r`)
  await window.shows('API key (optional):')
  window.type(`${key}\r`)
  await window.shows('answer 1')
  await leaves(window)
  assert.equal(
    [stopped.raw, window.raw].some((raw) => raw.includes(key.slice(0, 9))),
    false,
  )
  const { hub, leash } = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8'))
  assert.deepEqual([hub, leash], [{ url }, 'edit'])
  const kept = join(machine.home, 'hub.key')
  assert.deepEqual([readFileSync(kept, 'utf8'), statSync(kept).mode & 0o777], [`${key}\n`, 0o600])

  const again = start(t, machine, ['--start=fake', '--here'])
  await again.shows('answer 1')
  await leaves(again)
  assert.doesNotMatch(again.scrollback(), /Server address|Cannot connect/)
})

test('a CLI without a login: what to run, and the choice to start it anyway', options, async (t) => {
  const machine = machineOf(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  const env = { ...machine.install(['gemini']), ...nowhere }
  const missing = start(t, machine, ['--start=codex'], env)
  assert.equal((await missing.exited).exitCode, 1)
  assert.deepEqual(said(missing), ['termaite: codex CLI not found. Install with: npm install -g @openai/codex'])

  const asked = ['termaite: gemini requires login. Run: gemini', 'Start it anyway? [y/N]']
  const before = traces(machine)
  for (const [typed, code, end] of [
    ['n\r', 1, 'gemini was not started.'],
    [keys.ctrlC, 130, 'there was no answer, so nothing was changed.'],
    [keys.ctrlD, 1, 'there was no answer, so nothing was changed.'],
  ] as const) {
    const window = start(t, machine, ['--start=gemini'], env)
    await window.shows('Start it anyway? [y/N]')
    window.type(typed)
    assert.equal((await window.exited).exitCode, code)
    const lines = said(window).map((row) => row.replace(/(?<=\[y\/N\]) n$/, ''))
    assert.deepEqual(lines, [...asked, `termaite: ${end}`])
  }
  assert.deepEqual(traces(machine), before)
})
