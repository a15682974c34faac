import type { TestContext } from 'node:test'
import type { Task } from '../../../../src/hub/model/tasks/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { machineMerger } from '../../../../src/hub/server/merge/work-merge.ts'
import { branchOf } from '../../../../src/worktrees/task-branches.ts'
import { folderFor, git, machineIo, repositoryAt } from '../../../machines-rig.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)
const id = '0123456789abcdef'
const branch = branchOf(id)

/** A repository with the files `shop.txt` and `mine.txt`, and a task whose agent has put these files on its branch. */
function shop(t: TestContext, files: Record<string, string> = { 'shop.txt': 'pears\n' }) {
  const at = folderFor(t)
  const root = repositoryAt(join(at, 'shop'))
  const write = (name: string, text: string) => writeFileSync(join(root, name), text)
  write('mine.txt', 'mine\n')
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'mine')
  /** Commits files on the branch of the task, as its agent would in a worktree, and returns the commit. */
  const work = (changed: Record<string, string>) => {
    const tree = join(at, 'tree')
    git(root, 'worktree', 'add', '-q', '--force', ...(hasBranch() ? [tree, branch] : ['-b', branch, tree]))
    for (const [name, text] of Object.entries(changed)) writeFileSync(join(tree, name), text)
    git(tree, 'add', '-A')
    git(tree, 'commit', '-qm', 'work')
    git(root, 'worktree', 'remove', tree)
    return git(root, 'rev-parse', branch)
  }
  const hasBranch = () => git(root, 'branch', '--list', branch) !== ''
  const commit = work(files)
  const task = {
    ...{ id, prompt: 'Sell pears.', workspace: root, priority: 0, capabilities: [], needs: [], created: 1, moved: 1 },
    ...{ returns: 0, notes: [], history: [], state: 'IN_REVIEW', agent: 'a', result: { message: 'done' } },
    tries: [{ number: 1, agent: 'a', began: 1, ended: 2, end: 'IN_REVIEW', branch, commit }],
  } as Task
  const merger = machineMerger(machineIo(join(at, 'home'), root), async function* () {})
  const read = (name: string) => readFileSync(join(root, name), 'utf8')
  const status = () => git(root, 'status', '--porcelain')
  return { root, write, work, commit, task, merger, read, status }
}

test('a branch that has moved since its review is refused with the changes that nobody reviewed', async (t) => {
  const { root, work, commit, task, merger, read } = shop(t)
  const tip = work({ 'shop.txt': 'poison\u001b[2J\n' })
  const masks = { [root]: '<root>', [commit]: '<reviewed>', [commit.slice(0, 12)]: '<reviewed>' }
  const more = { [commit.slice(0, 8)]: '<reviewed>', [tip.slice(0, 12)]: '<tip>', [tip.slice(0, 8)]: '<tip>' }
  await golden.rejects(t, merger.check(task), { ...masks, ...more })
  await golden.rejects(t, merger.merge(task), { ...masks, ...more })
  await golden.rejects(t, merger.merge({ ...task, state: 'APPROVED' } as Task), { ...masks, ...more })
  assert.equal(read('shop.txt'), 'apples\n')
  git(root, 'branch', '--force', branch, commit)
  const merged = await merger.merge(task)
  assert.deepEqual(merged, { machine: hostname(), branch, into: 'main', commit })
  assert.equal(read('shop.txt'), 'pears\n')
})

test('work whose agent named no commit is not merged without a person who reads it', async (t) => {
  const { root, task, merger, read } = shop(t)
  const [{ commit: _, ...last }] = task.tries as [NonNullable<Task['tries']>[number]]
  await golden.rejects(t, merger.check({ ...task, tries: [last] }), { [root]: '<root>' })
  assert.equal(read('shop.txt'), 'apples\n')
})

for (const way of ['forward', 'with a merge commit'] as const)
  test(`changed files that a merge does not touch stay as they are, staged or not: ${way}`, async (t) => {
    const { root, write, task, commit, merger, read, status } = shop(t)
    if (way !== 'forward') git(root, 'commit', '-q', '--allow-empty', '-m', 'ours')
    const head = git(root, 'rev-parse', 'HEAD')
    write('mine.txt', 'half an edit\n')
    write('staged.txt', 'staged\n')
    git(root, 'add', 'staged.txt')
    assert.deepEqual(await merger.check(task), { commit })
    const merged = await merger.merge(task)
    const wanted = { machine: hostname(), branch, into: 'main', commit: git(root, 'rev-parse', 'HEAD') }
    assert.deepEqual(merged, wanted)
    assert.deepEqual(
      [read('shop.txt'), read('mine.txt'), read('staged.txt'), status()],
      ['pears\n', 'half an edit\n', 'staged\n', 'M mine.txt\nA  staged.txt'],
    )
    const parents = git(root, 'log', '-1', '--format=%P', merged.commit)
    assert.equal(parents, way === 'forward' ? head : `${head} ${commit}`)
    assert.equal(git(root, 'diff', '--name-only', head, merged.commit), 'shop.txt')
  })

test('a changed file that a merge would write stops it, whatever else is changed', async (t) => {
  const { root, write, task, merger, read, status } = shop(t)
  write('mine.txt', 'half an edit\n')
  write('shop.txt', 'plums\n')
  await golden.rejects(t, merger.check(task), { [root]: '<root>' })
  assert.deepEqual([read('shop.txt'), status()], ['plums\n', 'M mine.txt\n M shop.txt'])
})
