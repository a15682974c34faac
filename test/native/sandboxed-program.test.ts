import { pathOf } from '../system-path.ts'
import { AddedFolders } from '../../src/native/added-folders.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { openBorder } from '../../src/safety/border.ts'
import type { AddressInfo } from 'node:net'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ToolCall } from '../../src/core/work/tool.ts'
import type { NativeParts } from '../../src/native/native-parts.ts'
import { collect } from '../../src/base/process/collect.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { wallOf } from '../../src/safety/wall/wall.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { runIsolated } from '../../src/native/toolbox.ts'
import { sandboxOf } from '../../src/native/command-wall.ts'
import { allProfiles } from '../../src/profiles/all.ts'
import { isSecretPlace } from '../../src/safety/secret-files.ts'
import { newNativeState } from '../../src/native/native-parts.ts'
import { openProject } from '../../src/home/project.ts'
import { apartAttacks } from '../safety/corpus/apart-attacks.ts'
import { sized } from '../full.ts'
import { folderOf } from '../desk/desk.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const none = await wallOf({ platform: process.platform, env: process.env }).none()

function partsIn(folder: string, env: NativeParts['env']): NativeParts {
  const [root, store] = [join(folder, 'project'), memoryStore()]
  return {
    ...{ home: join(folder, 'termaite'), root, cwd: root, env, clock: realClock, store, session: 's' },
    blobs: store.blobs('b'),
    project: openProject(store, root).doc,
    border: openBorder({ env: {} }),
    folders: new AddedFolders(),
    state: newNativeState(),
  }
}

const call = (cwd: string): ToolCall => ({
  ...{ cwd, signal: new AbortController().signal, ask: nobody, until: Number.MAX_SAFE_INTEGER },
  progress: () => {},
  consult: async () => assert.fail('nobody is consulted'),
})

test(
  'a piece of code runs apart: it writes nothing outside, sees no key, and nothing of it stays',
  { skip: none ?? false },
  async (t) => {
    const folder = folderOf(t)
    const env = { PATH: process.env.PATH, HOME: folder, SECRET_KEY: 'made-up' }
    const parts = partsIn(folder, env)
    const run = runIsolated(parts)!
    const code = `echo "$SECRET_KEY|$(ls)|$PWD"; (echo x > ${join(folder, 'project')}/made) 2>/dev/null; exit 3`
    const output = (await run('Shell', code, call(parts.root))) as { text: string; data: unknown }
    const [, where = ''] = /^\|main\.sh\|(\/.+)\n\[exit code 3\]$/.exec(output.text) ?? assert.fail(output.text)
    const typed = 'const n: number = 20; console.log(n + 1)'
    assert.deepEqual(await run('ts', typed, call(parts.root)), { text: '21', data: { exit: 0 } })
    assert.deepEqual([existsSync(join(folder, 'project', 'made')), existsSync(where)], [false, false])
    await golden.rejects(t, run('cobol', 'x', call(parts.root)))
  },
)

/** The ground of the attacks: a project with history, a second tree, an added folder, a home, a process, a socket and a port. */
async function ground(t: TestContext) {
  // Beside the temporary folder, which is private behind a wall.
  const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-apart-')))
  t.after(() => rmSync(base, { recursive: true }))
  const at = (name: string) => join(base, name)
  const parts = partsIn(base, { PATH: process.env.PATH, HOME: at('home') })
  const { root } = parts
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root })
  for (const path of ['home/.ssh', 'home/.claude', 'project', 'added', 'outside'].map(at))
    mkdirSync(path, { recursive: true })
  git('init', '-q')
  writeFileSync(join(root, 'code.ts'), 'canary\n')
  git('add', '.')
  git('commit', '-q', '-m', 'canary')
  git('worktree', 'add', '-q', at('tree'))
  for (const path of ['project/.env', 'added/notes', 'home/.ssh/id_ed25519', 'home/.claude/.credentials.json'])
    writeFileSync(at(path), 'KEY=canary\n')
  symlinkSync(root, at('added/project'))
  symlinkSync('.env', join(root, 'linked'))
  const servers = [at('socket'), 0].map((where) => createServer((peer) => peer.end('canary\n')).listen(where))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  t.after(() => servers.forEach((server) => server.close()))
  const child = spawn('sleep', ['300'], { cwd: root, env: { KEY: 'canary' }, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  const places: Record<string, string> = {
    ...{ base, root, canary: 'canary', node: process.execPath, child: String(child.pid) },
    ...Object.fromEntries(['home', 'added', 'tree', 'socket'].map((name) => [name, at(name)])),
    port: String((servers[1]!.address() as AddressInfo).port),
  }
  const targets = [join(root, 'made'), at('outside/made'), at('home/made'), at('added/made'), at('tree/made')]
  const attacks = [
    ...apartAttacks.leaks.map((line) => ({ line, made: undefined })),
    ...targets.flatMap((made) => apartAttacks.writes.map((line) => ({ line, made }))),
  ].map(({ line, made }) => ({
    line: line.replaceAll(/\{(\w+)\}/g, (all, name: string) => (name === 'made' ? made : places[name]) ?? all),
    made,
  }))
  return { parts: { ...parts, folders: new AddedFolders([at('added')]) }, attacks }
}

/** One script of many attacks, each in a folder and a shell of its own, and the numbers of those that printed the canary. */
const scriptOf = (lines: readonly string[]) =>
  lines
    .map(
      (line, n) =>
        `mkdir d${n}; echo "attack ${n}: $(cd d${n}; timeout 10 bash -c '${line.replaceAll("'", `'\\''`)}' 2>&1 | tr -d '\\0\\n' | head -c 2000)"`,
    )
    .join('\n')
const leaked = (out: string) =>
  out
    .split('\n')
    .flatMap((line) => /^attack (\d+): .*canary/.exec(line)?.[1] ?? [])
    .map(Number)

test(
  'no attack of the corpus gets out of the code that runs apart, and each works where nothing holds it',
  { skip: none ?? false },
  async (t) => {
    const { parts, attacks } = await ground(t)
    const remove = () => attacks.forEach(({ made }) => made && rmSync(made, { recursive: true, force: true }))
    /** The attacks that get what they want, if they run like this. */
    const broken = async (run: (script: string) => Promise<string>) => {
      const leaks = attacks.filter(({ made }) => made === undefined)
      const out = await run(scriptOf(leaks.map(({ line }) => line)))
      const found = leaked(out).map((n) => leaks[n]!.line)
      for (const made of new Set(attacks.flatMap((attack) => attack.made ?? [])))
        for (const { line } of attacks.filter((attack) => attack.made === made)) {
          await run(line)
          if (lstatSync(made, { throwIfNoEntry: false })) found.push(line)
          remove()
        }
      return found
    }
    const free = await broken(async (script) => {
      const cwd = mkdtempSync(join(tmpdir(), 'termaite-free-'))
      const { out } = await collect('bash', ['-c', script], { cwd, env: parts.env })
      rmSync(cwd, { recursive: true })
      return out.toString()
    })
    assert.deepEqual(
      attacks.map(({ line }) => line).filter((line) => !free.includes(line)),
      [],
      'each attack works where nothing holds it',
    )
    const apart = runIsolated(parts)!
    const usual = sized(6, 1)
    const held = await broken(async (script) => {
      const isWrite = !script.startsWith('mkdir d0')
      if (isWrite && attacks.findIndex(({ line }) => line === script) % usual !== 0) return ''
      const output = (await apart('bash', script, call(parts.root))) as { text: string }
      assert.ok(isWrite || output.text.includes('attack 0: '), output.text)
      return output.text
    })
    assert.deepEqual(held, [])
  },
)

test('the logins of all CLIs are secret, and no command of our own agent reads them', async (t) => {
  // Beside the temporary folder, which is private behind a wall.
  const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-logins-')))
  t.after(() => rmSync(base, { recursive: true }))
  const [home, moved] = [join(base, 'home'), join(base, 'moved')]
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: moved }
  const logins = [env, { ...env, CODEX_HOME: undefined }].flatMap((vars) =>
    allProfiles().flatMap(({ files, traces }) => [
      ...traces.files.map((file) => join(home, file)),
      ...(files?.({ home, cwd: base, env: vars }).returned ?? []).map(({ path }) => path),
    ]),
  )
  assert.ok(logins.includes(join(moved, 'auth.json')))
  assert.deepEqual(
    logins.filter((path) => !isSecretPlace(path, home)),
    [join(moved, 'auth.json')],
    'only a folder that a variable names cannot be known by its path',
  )
  if (none !== undefined) return t.diagnostic(`not tried behind a wall: ${none}`)
  for (const path of logins) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `key-in-${path}\n`)
  }
  const parts = partsIn(base, env)
  mkdirSync(parts.root, { recursive: true })
  const walled = await sandboxOf(parts).wrap(['cat', ...logins], {
    ...{ root: parts.root, project: 'write', git: 'read', network: false, sockets: false, home },
  })
  assert.ok('argv' in walled)
  assert.equal(spawnSync(walled.argv[0], walled.argv.slice(1), { encoding: 'utf8' }).stdout, '')
  await walled.settle()
})

test('the sandboxed program is missing without an installed sandbox, and reports one that does not work', async (t) => {
  const folder = folderOf(t)
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  if (process.platform !== 'darwin') assert.equal(runIsolated(partsIn(folder, { PATH: bin })), undefined)
  writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\necho no namespaces >&2\nexit 1\n', { mode: 0o755 })
  const parts = partsIn(folder, { PATH: pathOf(bin) })
  if (process.platform === 'linux')
    await assert.rejects(
      runIsolated(parts)!('bash', 'true', call(parts.root)),
      /there is no sandbox here: bubblewrap does not work here: no namespaces\. Solve the task without it\.$/,
    )
})
