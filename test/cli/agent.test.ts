import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'

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

test('what is missing is said in the words that say what to do', async (t) => {
  const { agent } = machineWith(t, 'claude', 'gemini')
  assert.deepEqual(await agent([]), {
    code: 2,
    out: '',
    err: 'termaite: --start: which agent? claude, gemini, codex, qwen, copilot.',
  })
  assert.deepEqual(await agent(['--start=codex']), {
    code: 1,
    out: '',
    err: 'termaite: codex CLI not found. Install with: npm install -g @openai/codex',
  })
  assert.deepEqual(await agent(['--start=gemni']), {
    code: 2,
    out: '',
    err: 'termaite: --start: there is no agent "gemni". Did you mean "gemini"? Allowed: claude, gemini, codex, qwen, copilot.',
  })
  assert.deepEqual(await agent(['--start=gemini']), {
    code: 1,
    out: '',
    err: 'termaite: gemini requires login. Run: gemini (or start it all the same with --yes)',
  })
  const { err } = await agent(['--start=gemini', '--server', 'here'], { GEMINI_API_KEY: 'x' })
  assert.match(err, /--server: found "here", allowed: the http\(s\) address of a hub/)
})

test('a dry run tells all that would be done, and does none of it', async (t) => {
  const { machine, agent, env } = machineWith(t, 'gemini')
  const { code, out, err } = await agent(['--start=gemini', '--dry-run'], { GEMINI_API_KEY: 'x' })
  assert.deepEqual([code, err], [0, 'Cannot connect to termaite hub. Agent will run without MCP.'])
  const rows = Object.fromEntries(
    out
      .trimEnd()
      .split('\n')
      .map((row) => row.split(/ {2,}/, 2)),
  )
  const { hub, ...rest } = rows
  assert.deepEqual(rest, {
    workspace: machine.project,
    agent: 'gemini (Gemini CLI), leash ask',
    command: 'gemini --approval-mode default',
    workflow: 'orc, built in',
    tools: 'none of the hub',
    'works in': 'a worktree of its own',
    terminal: 'this one',
    session: 'a fresh one',
  })
  assert.match(hub!, new RegExp(`^${env.TERMAITE_HUB}, not reachable; known there as gemini-\\w{6}$`))
  assert.equal(execFileSync('git', ['status', '--porcelain'], { cwd: machine.project }).toString(), '')
})

test('a workflow is found by its names, needs trust, and is missed with those there are', async (t) => {
  const { machine, file, agent } = machineWith(t, 'claude')
  const dry = ['--start=claude', '--yes', '--dry-run']
  const workflow = (name: string) => file(join(machine.project, '.agent/workflows', `${name}.md`), 'Do it.')
  const [review] = ['waaah-review', 'termaite-ship', 'orc'].map(workflow)
  assert.match(
    (await agent([...dry, '--as=reviw'])).err,
    /no workflow "reviw" \(\.agent\/workflows\/reviw\.md\)\. Found: /,
  )
  const { code, err } = await agent([...dry, '--as=review'])
  assert.equal(code, 2)
  assert.match(err, new RegExp(`${review} is not used: this folder is not trusted`))
  assert.match((await agent(dry)).out, /^workflow +orc, built in$/m)
  assert.equal((await agent([...dry, '--as=../x'])).code, 2)
})

const entry = '"termaite-hub"'

/** A gemini that a person has logged in to, and a hub that answers. */
async function wired(t: TestContext, prepare: (settings: string, home: string) => void) {
  const { machine, home, env, agent } = machineWith(t, 'gemini')
  const serving = machine.start(['serve', '--port', '0'])
  t.after(() => serving.kill('SIGKILL'))
  const url = await new Promise<string>((resolve) =>
    serving.stdout!.once('data', (line) => resolve(String(line).trim())),
  )
  const settings = join(home, '.gemini', 'settings.json')
  mkdirSync(join(home, '.gemini'))
  prepare(settings, home)
  const run = (...args: string[]) => agent(['--start=gemini', ...args], { GEMINI_API_KEY: 'x', TERMAITE_HUB: url })
  return { machine, env, settings, run, text: () => readFileSync(settings, 'utf8') }
}

test('settings with comments would get one entry, and a dry run leaves every byte', async (t) => {
  const before = '{\n  // mine\n  "theme": "dark", /* kept */\n}\n'
  const { run, text } = await wired(t, (settings) => writeFileSync(settings, before))
  const { out, code } = await run('--dry-run')
  assert.equal(code, 0)
  assert.deepEqual(out.split('\n').filter((row) => row.startsWith('+ ') && row.includes('termaite-hub')).length, 1)
  assert.match(out, /^ {3}\/\/ mine$/m)
  assert.equal(text(), before)
})

test('settings that do not parse, are read-only or lead elsewhere are refused, and left as they are', async (t) => {
  const refusals: [RegExp, (settings: string, home: string) => void][] = [
    [/is not JSON \(line 2: value expected\); mend it first/, (settings) => writeFileSync(settings, '{\n  "a": ,\n}')],
    [
      /is read-only; make it writable first/,
      (settings) => {
        writeFileSync(settings, '{}')
        chmodSync(settings, 0o444)
      },
    ],
    [
      /is a link to .*, outside of your home/,
      (settings, home) => {
        writeFileSync(join(home, '..', 'elsewhere.json'), '{}')
        symlinkSync(join(home, '..', 'elsewhere.json'), settings)
      },
    ],
  ]
  for (const [words, prepare] of refusals) {
    const { run, text } = await wired(t, prepare)
    const before = text()
    const { err, out } = await run('--dry-run')
    assert.match(err, words)
    assert.match(err, /Nothing was changed\. gemini will run without MCP\.$/)
    assert.match(out, /^tools +termaite-hub is not wired$/m)
    assert.equal(text(), before)
  }
})

test('an entry that is there is used as it is; keys in plain text are warned about', async (t) => {
  const servers = { 'termaite-hub': { command: 'mine' }, other: { url: 'x', headers: { Authorization: 'Bearer abc' } } }
  const before = JSON.stringify({ mcpServers: servers })
  const { run, text, settings } = await wired(t, (path) => writeFileSync(path, before))
  const { out, err } = await run('--dry-run')
  assert.match(out, new RegExp(`^tools +termaite-hub stands in ${settings}$`, 'm'))
  assert.equal(
    err,
    `termaite: ${settings} holds a key in plain text: mcpServers.other.headers.Authorization; whoever can read that file can use it.`,
  )
  assert.equal(text().includes(entry), true)
  assert.equal(text(), before)
})
