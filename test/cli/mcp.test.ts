import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { initialize } from '../wire/mcp/pipes.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** A machine with Gemini CLI's settings on it. */
function machineWith(t: TestContext, settings?: string) {
  const machine = new Machine(t)
  const file = join(machine.folder, 'home', '.gemini', 'settings.json')
  mkdirSync(join(file, '..'))
  if (settings !== undefined) writeFileSync(file, settings)
  return { machine, file, mcp: (...args: string[]) => machine.call(['mcp', ...args]) }
}

const theirs = '{\n  // mine\n  "theme": "dark"\n}\n'

test('install shows the change and asks; where knows it; uninstall takes it back', options, async (t) => {
  const { machine, file, mcp } = machineWith(t, theirs)
  const asked = await mcp('install', 'gemini')
  assert.deepEqual([asked.code, readFileSync(file, 'utf8')], [2, theirs], 'nobody could be asked')
  golden(t, asked.err)
  assert.match(asked.out, /^\+ {2}"mcpServers": \{$/m)
  const dry = await mcp('install', 'gemini', '--dry-run')
  assert.deepEqual([dry.code, dry.out, readFileSync(file, 'utf8')], [0, asked.out, theirs])
  assert.equal((await mcp('install', 'gemini', '--yes')).code, 0)
  const written = readFileSync(file, 'utf8')
  const again = await mcp('install', 'gemini', '--yes')
  assert.deepEqual([again.code, again.out, readFileSync(file, 'utf8')], [0, '', written])
  const [wired] = (JSON.parse((await mcp('list', '--json')).out) as { name: string; wired: boolean }[]).filter(
    (client) => client.wired,
  )
  assert.deepEqual(wired, { name: 'gemini', title: 'Gemini CLI', wired: true, file })
  const { entries } = JSON.parse((await machine.run(['where', '--json'])).out)
  assert.deepEqual(entries, [
    { client: 'gemini', path: file, key: 'mcpServers.termaite', backup: `${file}.termaite.bak` },
  ])
  machine.settings({ agents: [{ name: 'g', profile: 'gemini', contextWindowTokens: 1000 }] })
  const [{ mcp: known }] = JSON.parse((await machine.run(['doctor', '--quick', '--json'])).out)
  assert.equal(known, 'wired')
  const uninstalled = await machine.run(['uninstall', '--yes'])
  assert.deepEqual([uninstalled.code, readFileSync(file, 'utf8')], [0, theirs])
  assert.equal(existsSync(`${file}.termaite.bak`), false)
})

test('the desktop app gets its entry once it has been started, and loses nothing else', options, async (t) => {
  const { machine, mcp } = machineWith(t)
  const file =
    process.platform === 'darwin'
      ? join(machine.folder, 'home', 'Library', 'Application Support', 'Claude', 'claude_desktop_config.json')
      : join(machine.folder, 'home', '.config', 'Claude', 'claude_desktop_config.json')
  const early = await mcp('install', 'claude-desktop', '--yes')
  assert.equal(early.code, 1)
  golden(t, early.err, { [machine.folder]: '<machine>' })
  mkdirSync(join(file, '..'), { recursive: true })
  const own = '{"globalShortcut": "x"}'
  writeFileSync(file, own)
  assert.equal((await mcp('install', 'claude-desktop', '--yes')).code, 0)
  const { mcpServers, globalShortcut } = JSON.parse(readFileSync(file, 'utf8'))
  const { command, args } = mcpServers.termaite as { command: string; args: string[] }
  assert.deepEqual([globalShortcut, existsSync(command), args.slice(-2)], ['x', true, ['mcp', 'serve']])
  assert.equal((await mcp('remove', 'claude-desktop', '--yes')).code, 0)
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), JSON.parse(own))
})

test(
  'a file that does not parse is left alone, and an unknown client is named with the known ones',
  options,
  async (t) => {
    const { file, mcp } = machineWith(t, '{ "a": ')
    const { code, err } = await mcp('install', 'gemini', '--yes')
    assert.deepEqual([code, readFileSync(file, 'utf8')], [1, '{ "a": '])
    assert.match(err, /settings\.json is not JSON \(line 1: value expected\); correct it first\. Nothing was changed\./)
    const unknown = await mcp('install', 'emacs')
    assert.equal(unknown.code, 2)
    assert.match(unknown.err, /found "emacs", allowed: claude, gemini, codex/)
    const removed = await mcp('remove', 'claude', '--yes')
    assert.deepEqual([removed.code, removed.out], [0, ''])
  },
)

const answered = async (lines: AsyncIterator<string>) => JSON.parse((await lines.next()).value as string)

test('over stdio the output is the client’s alone, and the end of its input is the end', options, async (t) => {
  const { machine } = machineWith(t)
  machine.agents({ good: 'cat' })
  for (const end of ['input', 'signal'] as const) {
    const child = machine.start(['mcp', 'serve'])
    t.after(() => void child.kill('SIGKILL'))
    const exited = once(child, 'exit')
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
    child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...initialize })}\n`)
    assert.equal((await answered(lines)).result.serverInfo.name, 'termaite')
    child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`)
    assert.equal((await answered(lines)).result.tools.length, 7)
    if (end === 'input') child.stdin!.end()
    else child.kill('SIGTERM')
    assert.deepEqual(await exited, [end === 'input' ? 0 : 143, null])
    assert.equal((await lines.next()).done, true)
  }
})

test('over HTTP it is served on this machine alone, with a key for its owner’s eyes', options, async (t) => {
  const { machine, mcp } = machineWith(t)
  machine.agents({ good: 'cat' })
  const child = machine.start(['mcp', 'serve', '--http', '0'])
  t.after(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const url = (await createInterface({ input: child.stdout! })[Symbol.asyncIterator]().next()).value as string
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
  const file = join(machine.home, 'mcp.key')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const post = (key: string) =>
    fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...initialize }),
    })
  assert.equal((await post('wrong')).status, 401)
  assert.equal((await post(readFileSync(file, 'utf8').trim())).status, 200)
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [143, null])
  const open = await mcp('serve', '--http', '0.0.0.0:0')
  assert.equal(open.code, 2)
  golden(t, open.err)
  assert.equal((await mcp('serve', '--http', 'x')).code, 2)
})
