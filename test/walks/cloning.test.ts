import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { repositoryKey } from '../../src/hub/model/tasks/workspace.ts'
import { clonedPlace, CloneRefused } from '../../src/worktrees/clone-cache.ts'
import { clonedWorkspace } from '../../src/worktrees/cloned-workspace.ts'
import { pushBranch } from '../../src/worktrees/remote-git.ts'
import { repositoryFacts } from '../../src/worktrees/repository-facts.ts'
import { branchOf } from '../../src/worktrees/task-branches.ts'
import { freePort } from '../free-port.ts'
import { folderFor, git, machineIo, repositoryAt } from '../machines-rig.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const never = new AbortController().signal

/** Serves the repositories of a folder over git's own protocol; returns the beginning of their addresses. */
async function gitServer(t: TestContext, folder: string): Promise<string> {
  const port = await freePort()
  const args = [
    'daemon',
    '--export-all',
    '--enable=receive-pack',
    `--base-path=${folder}`,
    '--listen=127.0.0.1',
    `--port=${port}`,
  ]
  const env = { PATH: process.env.PATH, HOME: folder }
  // A process group of its own, because git starts its daemon as another process.
  const child = spawn('git', args, { cwd: folder, stdio: 'ignore', env, detached: true })
  t.after(() => process.kill(-child.pid!, 'SIGKILL'))
  await until(async () => {
    const socket = connect(port, '127.0.0.1')
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    return open
  })
  return `git://127.0.0.1:${port}`
}

/** A repository on a server, and a machine that has nothing of it yet. */
async function scene(t: TestContext) {
  const at = folderFor(t)
  const served = join(at, 'served')
  const source = repositoryAt(join(at, 'source'))
  mkdirSync(served)
  git(served, 'clone', '-q', '--bare', `file://${source}`, join(served, 'shop.git'))
  const url = await gitServer(t, served)
  const remote = `${url}/shop.git`
  git(source, 'remote', 'add', 'origin', remote)
  const io = machineIo(join(at, 'home'), at)
  const parts = { env: io.env, clock: io.clock, signal: never, folder: join(at, 'clones'), rules: [`${url}/*`] }
  const facts = (await repositoryFacts(io.env, source))!
  return { at, served, source, url, remote, io, parts, workspace: repositoryKey(facts)!, commit: facts.commit! }
}

test('an agent clones a repository that it does not have, works in a worktree for each task, and pushes', async (t) => {
  const { at, source, remote, io, parts, workspace, commit, served } = await scene(t)
  const origin = { machine: 'desk', path: source, remote, branch: 'main', commit }
  const bench = join(at, 'bench')
  const lines: string[] = []
  const work = clonedWorkspace({
    env: io.env,
    folder: bench,
    cloned: (wanted, signal) =>
      clonedPlace({ ...parts, signal, progress: (words) => lines.push(words) }, wanted.workspace, wanted.origin),
  })
  const wanted = { workspace, origin }
  const folder = work.folder!('task-aaaaaaaa', wanted)
  assert.equal(folder, join(bench, 'shop-aaaaaaaa'))
  await work.begin('task-aaaaaaaa', wanted, never)
  assert.equal(readFileSync(join(folder, 'shop.txt'), 'utf8'), 'apples\n')
  writeFileSync(join(folder, 'shop.txt'), 'pears\n')
  const changes = (await work.end('task-aaaaaaaa', 'Sold pears.'))!
  assert.deepEqual(
    [changes.branch, changes.base, git(folder, 'log', '-1', '--format=%s')],
    [branchOf('task-aaaaaaaa'), commit, 'Sold pears.'],
  )
  assert.match(changes.diff, /^-apples\n\+pears$/m)
  assert.equal(await pushBranch({ env: io.env, clock: io.clock, signal: never }, folder, changes.branch), remote)
  assert.equal(git(join(served, 'shop.git'), 'rev-parse', changes.branch), changes.commit)

  // The remote goes on. Another task begins at the newest commit, and the worktree of the first one is gone.
  writeFileSync(join(source, 'shop.txt'), 'plums\n')
  git(source, 'commit', '-qam', 'plums')
  git(source, 'push', '-q', join(served, 'shop.git'), 'main')
  await work.begin(
    'task-bbbbbbbb',
    { workspace, origin: { machine: 'desk', path: source, remote, branch: 'main' } },
    never,
  )
  assert.deepEqual(readdirSync(bench), ['shop-bbbbbbbb'])
  assert.equal(readFileSync(join(bench, 'shop-bbbbbbbb', 'shop.txt'), 'utf8'), 'plums\n')
  assert.equal((await work.end('task-bbbbbbbb', 'Looked.'))?.diff, '')
  // The first task comes back, with its work.
  await work.begin('task-aaaaaaaa', wanted, never)
  assert.equal(readFileSync(join(folder, 'shop.txt'), 'utf8'), 'pears\n')
  await work.end('task-aaaaaaaa', 'x')
  assert.equal(await work.clear(), undefined)
  assert.deepEqual(readdirSync(bench), [])
  assert.equal(readdirSync(parts.folder).length, 1, 'one clone, and no half of one')
})

test('a clone runs nothing of the repository or of templates, and reaches only allowed addresses', async (t) => {
  const { at, served, source, url, remote, io, parts, workspace } = await scene(t)
  const mark = join(at, 'ran')
  const hook = `#!/bin/sh\ntouch ${mark}\n`
  const templates = join(at, 'templates', 'hooks')
  mkdirSync(templates, { recursive: true })
  for (const name of ['post-checkout', 'post-merge', 'reference-transaction', 'post-index-change'])
    writeFileSync(join(templates, name), hook, { mode: 0o755 })
  writeFileSync(
    join(at, 'home', '.gitconfig'),
    `[init]\n\ttemplateDir = ${join(at, 'templates')}\n[core]\n\thooksPath = ${templates}\n[submodule]\n\trecurse = true\n[filter "evil"]\n\tsmudge = touch ${mark}\n`,
  )
  writeFileSync(
    join(source, '.gitmodules'),
    `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch ${mark}"\n\tupdate = !touch ${mark}\n`,
  )
  writeFileSync(join(source, '.gitattributes'), '* filter=evil\n')
  git(source, 'update-index', '--add', '--cacheinfo', `160000,${git(source, 'rev-parse', 'HEAD')},x`)
  git(source, 'add', '.gitmodules', '.gitattributes')
  git(source, 'commit', '-qm', 'a trap')
  git(source, 'push', '-q', join(served, 'shop.git'), 'main')
  const work = clonedWorkspace({
    env: io.env,
    folder: join(at, 'bench'),
    cloned: (wanted, signal) => clonedPlace({ ...parts, signal }, wanted.workspace, wanted.origin),
  })
  const wanted = { workspace, origin: { machine: 'desk', path: source, remote } }
  await work.begin('task-aaaaaaaa', wanted, never)
  writeFileSync(join(work.folder!('task-aaaaaaaa', wanted), 'shop.txt'), 'pears\n')
  await work.end('task-aaaaaaaa', 'x')
  assert.equal(existsSync(mark), false, 'nothing of the repository, the templates or the settings ran')

  const refusal = (over: Partial<typeof parts>, key = workspace, from = remote) =>
    clonedPlace({ ...parts, folder: join(at, 'other'), ...over }, key, {
      machine: 'desk',
      path: '/x',
      remote: from,
    }).then(
      () => 'cloned',
      (error: unknown) => (error instanceof CloneRefused ? error.message : `not refused in words: ${String(error)}`),
    )
  golden(t, await refusal({ rules: ['github.com/*'] }))
  golden(t, await refusal({ rules: ['*'] }))
  golden(t, await refusal({}, workspace.replace(/#.*/, '#000000000000')), { [url]: '<url>' })
  golden(t, await refusal({}, '/srv/shop'))
  golden(t, await refusal({}, 'git:127.0.0.1/missing#', `${url}/missing.git`), { [url]: '<url>' })
  const gone = new AbortController()
  gone.abort()
  assert.match(await refusal({ signal: gone.signal }), /it was cancelled/)
  // A short name of the person's own settings cannot lead to a program either.
  writeFileSync(
    join(at, 'home', '.gitconfig'),
    `[url "ext::sh -c 'touch ${mark}' "]\n\tinsteadOf = ${url}\n[protocol "ext"]\n\tallow = always\n`,
  )
  assert.match(await refusal({}), /could not be cloned/)
  assert.equal(existsSync(mark), false)
  assert.deepEqual(
    existsSync(join(at, 'other')) ? readdirSync(join(at, 'other')).filter((name) => name.includes('.')) : [],
    [],
    'no half of a clone is left',
  )
})
