import { test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { mkdirSync, writeFileSync } from 'node:fs'
import { realClock } from '../../src/base/time/clock.ts'
import { projectGit } from '../../src/base/git/project-git.ts'
import { uncommitted } from '../../src/desk/greeting.ts'
import { snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { gitPaths } from '../../src/native/tools/file-finder-paths.ts'
import { newWorktree, removeWorktree } from '../../src/worktrees/copy-worktrees.ts'
import { worktreesOf } from '../../src/worktrees/slot-worktrees.ts'
import { worktreeWorkspace } from '../../src/worktrees/task-branches.ts'
import { canaries, HostileGit } from './hostile-git.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Everything that termaite does with git, on one folder. */
async function everyUse(hostile: HostileGit, root: string): Promise<void> {
  const env = { ...hostile.env(), ...hostile.hostileEnv() }
  const home = join(hostile.folder, 'termaite')
  const dir = join(home, 'projects', 'p', 'snapshots')
  const store = snapshots({ dir, root, env, clock: realClock })
  const take = async () => {
    const taken = await store.take()
    return 'tree' in taken ? taken.tree : assert.fail(taken.off)
  }
  mkdirSync(join(root, 'deep'), { recursive: true })
  for (const turn of ['t1', 't2', 't3']) {
    const before = await take()
    hostile.touch()
    writeFileSync(join(root, 'a.txt'), `${turn}\n`)
    await store.keep(turn, { before, after: await take(), at: 1, prompt: turn })
  }
  assert.match((await store.diff('t3')).patch, /^-t2\n\+t3$/m)
  await store.undo(await store.planUndo('t3'))
  await uncommitted(root, env)
  await gitPaths(root, env, new AbortController().signal)
  await gitPaths(join(root, 'deep'), env, new AbortController().signal)
}

async function everyWorktree(hostile: HostileGit, root: string): Promise<string[]> {
  const env = { ...hostile.env(), ...hostile.hostileEnv() }
  const parts = { root, home: join(hostile.folder, 'termaite'), slug: 'p', env, trusted: async () => false }
  const leaf = await newWorktree(parts)
  await removeWorktree(parts, leaf)
  const worktrees = worktreesOf(parts)!
  const { worktree, notes } = await worktrees.make(worktrees.plan('agent'), root)
  const workspace = worktreeWorkspace({ env }, root, worktree, worktrees)
  await workspace.begin('task-12345678', { workspace: '/w' }, new AbortController().signal)
  writeFileSync(join(worktree.path, 'a.txt'), 'changed by a task\n')
  const result = await workspace.end('task-12345678', 'a change')
  assert.match(result!.diff, /^\+changed by a task$/m)
  await workspace.clear()
  const git = projectGit(env)
  await git.ran(root, ['log', '-p', '--all'])
  await git.ran(root, ['show', 'HEAD'])
  return notes.slice(1)
}

const kinds = ['hooks in the git folder', 'hooks in the project'] as const

for (const kind of kinds)
  test(`a hostile repository runs nothing under any use of git (${kind})`, async (t) => {
    using hostile = new HostileGit()
    if (kind === 'hooks in the project') hostile.useHooksPath()
    await everyUse(hostile, hostile.root)
    assert.deepEqual(hostile.ran(), [])
    golden(t, await everyWorktree(hostile, hostile.root))
    assert.deepEqual(hostile.ran(), [])
  })

test('the nested repository, the submodule, the worktree and the bare repository run nothing as projects', async () => {
  using hostile = new HostileGit()
  for (const root of [join(hostile.root, 'nested'), join(hostile.root, 'sub'), hostile.worktree]) {
    await everyUse(hostile, root)
    await everyWorktree(hostile, root)
    assert.deepEqual([root, hostile.ran()], [root, []])
  }
  await everyUse(hostile, join(hostile.root, 'bare'))
  assert.deepEqual(hostile.ran(), [])
})

test('git itself, without the runner, trips the canaries in the same repositories', () => {
  using hostile = new HostileGit()
  const { root, worktree } = hostile
  const git = (...args: string[]) => {
    hostile.plainGit(root, ...args)
    hostile.touch()
  }
  for (const cwd of [root, worktree, join(root, 'nested'), join(root, 'sub'), join(root, 'bare')])
    hostile.plainGit(cwd, 'status')
  git('diff', 'HEAD')
  git('add', '-A')
  git('commit', '-m', 'one')
  git('commit', '--no-gpg-sign', '-m', 'one')
  git('checkout', '-b', 'new')
  git('checkout', '--', '.')
  git('worktree', 'add', join(hostile.folder, 'other-tree'))
  git('log', '-p', '--all')
  git('fetch', 'origin')
  hostile.write('a.p', 'p')
  git('add', 'a.p')
  const ran = hostile.ran()
  assert.deepEqual(
    tripped.filter((name) => !ran.includes(name)),
    [],
    `of ${canaries} canaries a repository: ${ran.join(', ')}`,
  )
})

/** The settings that git 2.39 and later run by themselves in the commands above. */
const tripped = [
  'bare core.fsmonitor',
  ...['nested', 'submodule'].flatMap((place) => [
    `${place} core.fsmonitor`,
    `${place} filter.evil.clean`,
    `${place} hooks_post-index-change`,
  ]),
  ...['core.fsmonitor', 'diff.evil.command', 'diff.evil.textconv', 'gpg.program', 'include.path', 'remote.origin.url'],
  ...['evil', 'deep', 'info'].flatMap((name) => [`filter.${name}.clean`, `filter.${name}.smudge`]),
  ...['commit-msg', 'post-checkout', 'post-commit', 'post-index-change', 'pre-commit', 'reference-transaction'].map(
    (name) => `hooks_${name}`,
  ),
].map((name) => (/^(?:bare|nested|submodule) /.test(name) ? name : `top ${name}`))
