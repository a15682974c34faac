import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A machine with programs of these names, in a repository, where no hub answers. */
function machineWith(t: TestContext, ...names: string[]) {
  const machine = new Machine(t)
  const home = join(machine.folder, 'home')
  execFileSync('git', ['init', '-q', machine.project])
  const env: Record<string, string> = { ...machine.install(names), TERMAITE_HUB: 'http://127.0.0.1:9' }
  const file = (path: string, text: string) => {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
    return path
  }
  const agent = async (args: readonly string[], more: Record<string, string> = {}) => {
    const { code, out, err } = await machine.run(['agent', ...args], { env: { ...env, ...more } })
    return { code, out, err: err.trimEnd() }
  }
  return { machine, home, env, file, agent }
}

test('each missing requirement is reported with what to do', async (t) => {
  const { agent } = machineWith(t, 'claude', 'gemini')
  golden(t, await agent([]))
  assert.deepEqual(await agent(['--start=codex']), {
    code: 1,
    out: '',
    err: 'termaite: codex CLI not found. Install with: npm install -g @openai/codex',
  })
  golden(t, await agent(['--start=gemni']))
  assert.deepEqual(await agent(['--start=gemini']), {
    code: 1,
    out: '',
    err: 'termaite: gemini requires login. Run: gemini (or start it anyway with --yes)',
  })
  const { err } = await agent(['--start=gemini', '--server', 'here'], { GEMINI_API_KEY: 'x' })
  assert.match(err, /--server: found "here", allowed: the http\(s\) address of a hub/)
})

test('a dry run lists everything that would be done, and does none of it', async (t) => {
  const { machine, home, agent, env } = machineWith(t, 'gemini')
  mkdirSync(join(home, '.gemini'))
  const { code, out, err } = await agent(['--start=gemini', '--dry-run'], { GEMINI_API_KEY: 'x' })
  golden(t, [code, err])
  const rows = Object.fromEntries(
    out
      .trimEnd()
      .split('\n')
      // The change of its settings is shown above the plan.
      .filter((row) => /^\w/.test(row))
      .map((row) => row.split(/ {2,}/, 2)),
  )
  const { hub, ...rest } = rows
  assert.deepEqual(rest, {
    workspace: machine.project,
    agent: 'gemini (Gemini CLI), leash ask',
    command: 'gemini --approval-mode default',
    workflow: 'orc, built in',
    'hub tools': `termaite-hub would be written into ${join(home, '.gemini', 'settings.json')}`,
    'works in': 'a new git worktree',
    terminal: 'this one',
    session: 'a new one',
  })
  assert.match(hub, new RegExp(`^${env.TERMAITE_HUB}, not running yet; known there as gemini-\\w{6}$`))
  assert.equal(execFileSync('git', ['status', '--porcelain'], { cwd: machine.project }).toString(), '')
})

test('a workflow is found by its names, needs trust, and is missed with those there are', async (t) => {
  const { machine, file, agent } = machineWith(t, 'claude')
  const dry = ['--start=claude', '--yes', '--dry-run']
  const workflow = (name: string) => file(join(machine.project, '.agent/workflows', `${name}.md`), 'Do it.')
  for (const name of ['waaah-review', 'termaite-ship', 'orc']) workflow(name)
  assert.match(
    (await agent([...dry, '--as=reviw'])).err,
    /no workflow "reviw" \(\.agent\/workflows\/reviw\.md\)\. Found: /,
  )
  const { code, err } = await agent([...dry, '--as=review'])
  assert.equal(code, 2)
  golden(t, err, { [machine.folder]: '<machine>' })
  assert.match((await agent(dry)).out, /^workflow +orc, built in$/m)
  assert.equal((await agent([...dry, '--as=../x'])).code, 2)
})
