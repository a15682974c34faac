import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HostileGit } from '../safety/hostile-git.ts'
import { editorOn } from './acp-editor.ts'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }
const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')

/** A machine whose project is a hostile repository, and an agent that changes a file there. */
function hostileMachine(t: TestContext) {
  const machine = new Machine(t)
  const hostile = new HostileGit(machine.folder, machine.project)
  machine.agents({ writer: 'cat >/dev/null; date +%N >>a.txt; echo It is done.' }, { leash: 'edit' })
  const env = hostile.hostileEnv()
  /** Runs the program and says what the repository ran meanwhile. */
  const run = async (args: string[], cwd = machine.project) => {
    hostile.touch()
    const ran = await machine.run(args, { env, cwd })
    assert.deepEqual({ args, cwd, canaries: hostile.ran() }, { args, cwd, canaries: [] }, ran.err)
    return ran
  }
  return { machine, hostile, env, run }
}

test('no command of termaite runs a program that a hostile repository names', options, async (t) => {
  const { machine, hostile, run } = hostileMachine(t)
  for (const folder of ['.', 'deep', 'nested', 'sub', 'bare'])
    assert.equal((await run(['-p', 'change it'], join(machine.project, folder))).out, 'It is done.\n')
  assert.equal((await run(['-p', 'change it'], hostile.worktree)).out, 'It is done.\n')
  assert.equal((await run(['-p', 'change it'])).out, 'It is done.\n')
  assert.match((await run(['diff'])).out, /^\+\d{9}$/m)
  const before = readFileSync(join(machine.project, 'a.txt'), 'utf8')
  assert.equal((await run(['undo', '--yes'])).code, 0)
  assert.notEqual(readFileSync(join(machine.project, 'a.txt'), 'utf8'), before)
  for (const args of [['doctor'], ['doctor', '--security'], ['where'], ['usage'], ['sessions']]) await run(args)
  const session = join(machine.project, '.termaite/sessions/one')
  mkdirSync(session, { recursive: true })
  writeFileSync(join(session, 'session.json'), '{}')
  const planned = await run(['agent', '--start=writer', '--resume', '--dry-run'])
  golden(t, planned.err, { [machine.folder]: '<machine>' })
})

test('a crew in a worktree of a hostile repository runs none of its programs', options, async (t) => {
  const { machine, run } = hostileMachine(t)
  const gate = join(machine.folder, 'gate')
  execFileSync('mkfifo', [gate])
  const command = [process.execPath, fake, gate, 'scroll'].join(' ')
  const quick = { command, idle_pattern: '^> ?$', response_fence: true }
  machine.settings({ terminals: { host: 'pty' }, leash: 'edit', agents: { quick } })
  const { code, err } = await run(['crew', 'spawn', 'quick', 'say something', '--worktree'])
  assert.equal(code, 0, err)
  const waited = JSON.parse((await run(['crew', 'wait', '1', '--timeout', '60', '--json'])).out) as { state: string }
  assert.equal(waited.state, 'idle')
  await run(['crew', 'close', '--yes', '--json'])
})

test(
  'an editor and the chat in a hostile repository run none of its programs',
  { ...options, ...inTerminal },
  async (t) => {
    const { machine, hostile, env } = hostileMachine(t)
    const editor = editorOn(t, machine.start(['acp'], { env }))
    await editor.initialize()
    const { sessionId } = await editor.begin(machine.project)
    assert.deepEqual(await editor.prompt(sessionId, 'change it'), { stopReason: 'end_turn' })
    assert.equal((await editor.close()).code, 0)
    assert.deepEqual(hostile.ran(), [])
    hostile.touch()
    await typed(
      machine,
      [],
      [
        [/Last request[^]*> /, 'change it again\r'],
        [/Done by writer/, '/diff\r'],
        [/\+\d{9}/, '/exit\r'],
      ],
      { ...env, TERM: 'dumb' },
    )
    assert.deepEqual(hostile.ran(), [])
  },
)
