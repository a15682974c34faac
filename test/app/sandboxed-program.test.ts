import { pathOf } from '../system-path.ts'
import { AddedFolders } from '../../src/app/added-folders.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { openBorder } from '../../src/safety/border.ts'
import type { AddressInfo } from 'node:net'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ToolCall } from '../../src/core/work/tool.ts'
import type { NativeParts } from '../../src/app/native/native-parts.ts'
import { realClock } from '../../src/base/clock.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { wallOf } from '../../src/safety/wall/wall.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { runIsolated } from '../../src/app/native/toolbox.ts'
import { sandboxOf } from '../../src/app/native/native-sandbox.ts'
import { allProfiles } from '../../src/profiles/all.ts'
import { isSecretPlace } from '../../src/safety/secret-files.ts'
import { newNativeState } from '../../src/app/native/native-parts.ts'
import { openProject } from '../../src/app/project.ts'
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

test('a piece of code that runs apart sees no project and opens no socket', { skip: none ?? false }, async (t) => {
  // Beside the temporary folder, which is private behind a wall.
  const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-apart-')))
  t.after(() => rmSync(base, { recursive: true }))
  const parts = partsIn(base, { PATH: process.env.PATH, HOME: join(base, 'home') })
  const [tree, added] = [join(base, 'tree'), join(base, 'added')]
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: parts.root })
  for (const path of [join(base, 'home'), parts.root, added]) mkdirSync(path)
  git('init', '-q')
  writeFileSync(join(parts.root, 'code.ts'), 'canary\n')
  git('add', '.')
  git('commit', '-q', '-m', 'canary')
  git('worktree', 'add', '-q', tree)
  writeFileSync(join(parts.root, '.env'), 'KEY=canary\n')
  writeFileSync(join(added, 'notes'), 'canary\n')
  const socket = join(base, 'socket')
  const server = createServer((peer) => peer.end('canary\n')).listen(socket)
  const port = createServer((peer) => peer.end('canary\n')).listen(0, '127.0.0.1')
  await Promise.all([once(server, 'listening'), once(port, 'listening')])
  t.after(() => [server, port].forEach((one) => one.close()))
  const run = runIsolated({ ...parts, folders: new AddedFolders([added]) })!
  const attempts = [
    ...['code.ts', '.env', '.git/HEAD', '.git/config', '.git/logs/HEAD'].map((name) => `cat ${parts.root}/${name}`),
    `cat ${tree}/code.ts`,
    `cat ${added}/notes`,
    `ls -A ${parts.root} ${tree} ${added}`,
    `cd ${parts.root} && grep -r canary .`,
    `git -C ${parts.root} log --format=%s`,
    `git -C ${parts.root} show HEAD:code.ts`,
    `cat /proc/*/cwd/code.ts /proc/*/root${parts.root}/code.ts`,
    `find ${base} -name code.ts -exec cat {} +`,
    `exec 3<>/dev/tcp/127.0.0.1/${(port.address() as AddressInfo).port} && cat <&3`,
  ]
  for (const attempt of attempts) {
    const output = (await run('bash', `${attempt} 2>/dev/null | head -5; true`, call(parts.root))) as { text: string }
    assert.doesNotMatch(output.text, /canary|code\.ts/, attempt)
  }
  const asks = (where: string) =>
    `(await import('node:net')).connect(${where}).on('data', (d) => console.log(String(d))).on('error', (e) => console.log('no: ' + e.code))`
  for (const where of [
    JSON.stringify(socket),
    `{ port: ${(port.address() as AddressInfo).port}, host: '127.0.0.1' }`,
  ]) {
    const output = (await run('javascript', asks(where), call(parts.root))) as { text: string }
    assert.match(output.text, /^no: \w+$/, where)
  }
  const pair = 'import socket\ntry:\n  socket.socket(socket.AF_UNIX)\n  print("open")\nexcept OSError:\n  print("held")'
  if (spawnSync('python3', ['-c', '']).status === 0)
    assert.deepEqual(await run('python', pair, call(parts.root)), { text: 'held', data: { exit: 0 } })
})

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
