import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { shortHash } from '../../src/base/hash.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'

const options = { timeout: 180_000 }
const hasTmux = spawnSync('tmux', ['-V']).status === 0

/** Programs that termaite starts by their names, or that its own scripts use. */
const names =
  'git bash sh env tmux ps mkfifo sed rm mv dd stty sleep wc grep awk cat tee mkdir rg bwrap nsenter unshare python3'.split(
    ' ',
  )

/** A repository whose node_modules/.bin is first on the PATH, and holds programs that say that they were started. */
class PlantedMachine extends Machine {
  readonly #ran: string

  constructor(t: TestContext) {
    super(t)
    this.#ran = join(this.folder, 'ran')
    mkdirSync(this.#ran)
    const bin = join(this.project, 'node_modules', '.bin')
    mkdirSync(bin, { recursive: true })
    for (const name of names)
      writeFileSync(join(bin, name), `#!/bin/sh\n: > ${join(this.#ran, name)}\nexit 1\n`, { mode: 0o755 })
    this.git('init', '-q', '-b', 'main')
    writeFileSync(join(this.project, '.gitignore'), 'node_modules\n')
    writeFileSync(join(this.project, 'sum.txt'), 'wrong\n')
    this.git('add', '-A')
    this.git('commit', '-qm', 'one')
  }

  override start(args: readonly string[], { env, ...more }: Parameters<Machine['start']>[1] = {}) {
    const PATH = [join(this.project, 'node_modules', '.bin'), process.env.PATH].join(delimiter)
    return super.start(args, { ...more, env: { PATH, ...env } })
  }

  git(...args: string[]): string {
    return execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@e', ...args], {
      cwd: this.project,
      env: { PATH: process.env.PATH, HOME: this.folder },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  }

  /** Runs termaite; none of the planted programs may start, and the command must succeed. */
  async succeeds(...args: string[]): Promise<string> {
    const { code, out, err } = await this.run(args)
    assert.deepEqual([args, this.planted(), code], [args, [], 0], err)
    return out
  }

  planted = () => readdirSync(this.#ran).sort()
  read = (path: string) => readFileSync(join(this.project, path), 'utf8')
}

// Only what bash itself can do, because the programs that an agent's own command names are that command's choice.
const changes = (to: string) => `while read -r _; do :; done; echo ${to} > sum.txt; echo changed it to ${to}`
const check = ['--check', '[[ $(<sum.txt) == right ]]']

test('a race, its choice, a turn and undo start no program of the project', options, async (t) => {
  const machine = new PlantedMachine(t)
  machine.agents({ amber: changes('worse'), birch: changes('right') }, { metaInstruction: false })
  await machine.succeeds('race', 'make it right', '-a', 'amber,birch', ...check)
  await machine.succeeds('race', 'show', 'birch')
  await machine.succeeds('race', 'choose')
  assert.equal(machine.read('sum.txt'), 'right\n')
  await machine.succeeds('undo', '--yes')
  assert.equal(machine.read('sum.txt'), 'wrong\n')
  await machine.succeeds('-p', 'make it worse', '-a', 'amber')
  await machine.succeeds('diff')
  await machine.succeeds('undo', '--yes')
  assert.equal(machine.read('sum.txt'), 'wrong\n')
})

test(
  'an agent of a crew in a worktree starts no program of the project',
  { ...options, skip: !hasTmux && 'there is no tmux here' },
  async (t) => {
    const machine = new PlantedMachine(t)
    t.after(() => spawnSync('tmux', ['-L', `termaite-${shortHash(machine.home)}`, 'kill-server']))
    const gate = join(machine.folder, 'gate')
    execFileSync('mkfifo', [gate])
    const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
    const command = [process.execPath, fake, gate, 'scroll'].join(' ')
    const agents = { quick: { command, idle_pattern: '^> ?$', response_fence: true } }
    machine.settings({ terminals: { host: 'tmux' }, leash: 'edit', agents })
    await machine.succeeds('crew', 'spawn', 'quick', 'hello', '--worktree')
    await machine.succeeds('crew', 'wait', '1', '--timeout', '60')
    assert.equal(machine.git('worktree', 'list').trim().split('\n').length, 2)
    await machine.succeeds('crew', 'list')
    await machine.succeeds('crew', 'close', '--yes')
  },
)

test(
  'a merge by the hub, on the command line and on the page, starts no program of the project',
  options,
  async (t) => {
    const machine = new PlantedMachine(t)
    const serving = await startedHub(t, machine)
    const orc = await serving.agent('orc')
    await orc.register({ id: 'orc', role: 'dev', capabilities: [], workspace: machine.project, source: 'CLI' })
    const review = async (text: string) => {
      const short = (await machine.succeeds('task', 'add', 'change', 'it')).split(' ')[0]!
      const given = await orc.wait('orc', 30, new AbortController().signal)
      assert.ok(given.type === 'task')
      const branch = `termaite/task-${short}`
      const tree = join(machine.folder, `tree-${short}`)
      machine.git('worktree', 'add', '-q', '-b', branch, tree)
      writeFileSync(join(tree, 'sum.txt'), text)
      machine.git('-C', tree, 'commit', '-qam', text)
      const place = { branch, commit: machine.git('rev-parse', branch).trim() }
      await orc.respond(given.ticket, 'orc', { status: 'IN_REVIEW', message: 'Did it.', place })
      return { short, id: given.task.id }
    }
    const first = await review('right\n')
    await machine.succeeds('task', 'show', first.short)
    await machine.succeeds('task', 'approve', first.short, '--merge', '--yes')
    assert.equal(machine.read('sum.txt'), 'right\n')
    const second = await review('better\n')
    const merge = await fetch(`${serving.url}/api/tasks/${second.id}/approve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${serving.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ try: 1, merge: true }),
    })
    assert.deepEqual([merge.status, machine.planted()], [200, []], await merge.text())
    assert.equal(machine.read('sum.txt'), 'better\n')
  },
)
