import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Project, treeOf } from './project.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A repository with files of every kind, as its person left it. */
function begun(): Project {
  const project = new Project()
  project.git('init', '-q')
  project.write('.gitignore', '*.log\nout/\n')
  project.write('edit.txt', 'one\ntwo\n')
  project.write('gone.txt', 'here\n')
  project.write('old/name.txt', 'the same\nlong enough\nto be known\n')
  project.write('run.sh', '#!/bin/sh\n')
  project.write('dir/in.txt', 'in\n')
  project.git('add', '-A')
  project.git('commit', '-qm', 'one')
  project.write('edit.txt', 'one\ntwo\nunstaged\n')
  project.write('dirty.txt', 'untracked\n')
  project.write('note.log', 'ignored\n')
  return project
}

/** Leaves the files as an approach does that failed. */
function messed(project: Project): void {
  const at = (path: string) => join(project.root, path)
  project.write('edit.txt', 'broken\n')
  project.write('new/deep/file.txt', 'new\n')
  unlinkSync(at('gone.txt'))
  mkdirSync(at('moved'))
  renameSync(at('old/name.txt'), at('moved/name.txt'))
  rmSync(at('old'), { recursive: true })
  chmodSync(at('run.sh'), 0o755)
  rmSync(at('dir'), { recursive: true })
  symlinkSync('edit.txt', at('dir'))
  rmSync(at('dirty.txt'))
}

test('changes since a tree are named, and the files go back to it; the index, the log and ignored files stay', async () => {
  using project = begun()
  const store = project.snapshots()
  const before = project.tree()
  const index = readFileSync(join(project.root, '.git/index'))
  const mark = await treeOf(store)
  messed(project)
  project.write('build.log', 'ignored, made meanwhile\n')
  const messy = project.tree()

  const { patch, stat, tree } = await store.since(mark)
  assert.deepEqual(
    stat.map(({ status, file }) => [status, file]),
    [
      ['added', 'dir'],
      ['deleted', 'dir/in.txt'],
      ['deleted', 'dirty.txt'],
      ['modified', 'edit.txt'],
      ['deleted', 'gone.txt'],
      ['renamed', 'moved/name.txt'],
      ['added', 'new/deep/file.txt'],
      ['modified', 'run.sh'],
    ],
  )
  assert.match(patch, /^-unstaged$/m)
  assert.equal(tree, await treeOf(store))
  assert.deepEqual(project.tree(), messy, 'a look changes nothing')

  assert.deepEqual(await store.restore(mark, tree), [])
  assert.deepEqual(project.tree(), { ...before, 'build.log': 'file ignored, made meanwhile\n' })
  assert.deepEqual(readFileSync(join(project.root, '.git/index')), index)
  assert.deepEqual(await store.since(mark), { patch: '', stat: [], tree: mark })
  assert.deepEqual(await store.list(), [], 'it is no turn')
})

test('files that changed after they were seen are left, and so are those that cannot be restored', async (t) => {
  using project = begun()
  const store = project.snapshots()
  const before = project.tree()
  const mark = await treeOf(store)
  project.write('edit.txt', 'broken\n')
  project.write('gone.txt', 'broken\n')
  project.write('new.txt', 'new\n')
  project.write('.gitignore', 'out/\n')
  const { tree } = await store.since(mark)
  project.write('edit.txt', 'the person mended it meanwhile\n')
  project.write('theirs.txt', 'made meanwhile\n')

  golden(t, await store.restore(mark, tree))
  assert.deepEqual(project.tree(), {
    ...before,
    'edit.txt': 'file the person mended it meanwhile\n',
    'theirs.txt': 'file made meanwhile\n',
  })
})

test('without a look before it, everything since the tree goes back', async () => {
  using project = begun()
  const store = project.snapshots()
  const before = project.tree()
  const mark = await treeOf(store)
  messed(project)
  assert.deepEqual(await store.restore(mark), [])
  assert.deepEqual(project.tree(), before)
})

test('a long patch is cut and says so; a tree that is not there is an error in words', async (t) => {
  using project = new Project()
  const store = project.snapshots()
  project.write('a.txt', 'a\n')
  const mark = await treeOf(store)
  project.write('big.txt', 'a line of text\n'.repeat(100_000))
  const { patch, stat } = await store.since(mark)
  assert.ok(patch.startsWith('diff --git a/big.txt b/big.txt\n'))
  assert.ok(patch.endsWith('\n[… the rest is left out …]\n'))
  golden(t, patch.length)
  assert.deepEqual(stat, [{ file: 'big.txt', added: 100_000, removed: 0, status: 'added' }])
  await assert.rejects(store.restore('0'.repeat(40)), Error)
  await assert.rejects(store.since('0'.repeat(40)), Error)
  assert.equal(project.tree()['big.txt']!.length, 'file '.length + 1_500_000)
})
