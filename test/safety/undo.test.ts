import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lastUndoable, snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { Project, turn, treeOf } from './project.ts'
import { newId } from '../../src/base/id.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a turn that edited, created, deleted and renamed is taken back; index and ignored files are untouched', async () => {
  using project = new Project()
  const at = (path: string) => join(project.root, path)
  project.git('init', '-q')
  project.write('.gitignore', '*.log\nout/\n')
  project.write('edit.txt', 'one\ntwo\n')
  project.write('gone.txt', 'here\n')
  project.write('old/name.txt', 'the same\nlong enough\nto be known\n')
  project.write('run.sh', '#!/bin/sh\n')
  project.write('dir/in.txt', 'in\n')
  project.write('becomes-dir', 'file\n')
  project.write('staged.txt', 'staged\n')
  symlinkSync('edit.txt', at('link'))
  project.git('add', '-A')
  project.git('commit', '-qm', 'one')
  project.write('staged.txt', 'staged again\n')
  project.git('add', 'staged.txt')
  project.write('note.log', 'ignored\n')
  project.write('dirty.txt', 'untracked\n')
  const tree = project.tree()
  const status = project.git('status', '--porcelain')
  const index = readFileSync(at('.git/index'))
  const head = readFileSync(at('.git/logs/HEAD'))
  const store = project.snapshots()

  await turn(project, store, 't1', () => {
    project.write('edit.txt', 'one\n2\n')
    project.write('new/deep/file.txt', 'new\n')
    unlinkSync(at('gone.txt'))
    mkdirSync(at('moved'))
    renameSync(at('old/name.txt'), at('moved/name.txt'))
    rmSync(at('old'), { recursive: true })
    chmodSync(at('run.sh'), 0o755)
    unlinkSync(at('link'))
    symlinkSync('run.sh', at('link'))
    rmSync(at('dir'), { recursive: true })
    project.write('dir', 'now a file\n')
    unlinkSync(at('becomes-dir'))
    project.write('becomes-dir/in.txt', 'x\n')
    project.write('new/deep/build.log', 'ignored, made by the turn\n')
  })
  const after = project.tree()

  const plan = await store.planUndo('t1')
  assert.deepEqual(plan.steps, [
    { action: 'restore', path: 'becomes-dir' },
    { action: 'delete', path: 'becomes-dir/in.txt' },
    { action: 'delete', path: 'dir' },
    { action: 'restore', path: 'dir/in.txt' },
    { action: 'restore', path: 'edit.txt' },
    { action: 'restore', path: 'gone.txt' },
    { action: 'restore', path: 'link' },
    { action: 'rename', path: 'moved/name.txt', to: 'old/name.txt' },
    { action: 'delete', path: 'new/deep/file.txt' },
    { action: 'restore', path: 'run.sh' },
  ])
  assert.deepEqual([plan.conflicts, plan.left], [[], []])
  assert.deepEqual(project.tree(), after, 'a plan changes nothing')

  const undone = await store.undo(plan)
  assert.deepEqual(undone, { turn: undone.turn, left: [] })
  const { 'new/deep/build.log': log, ...rest } = project.tree()
  assert.deepEqual(rest, tree)
  assert.equal(log, 'file ignored, made by the turn\n')
  assert.equal(existsSync(at('moved')), false, 'an empty folder goes with its last file')
  assert.deepEqual(readFileSync(at('.git/index')), index)
  assert.deepEqual(readFileSync(at('.git/logs/HEAD')), head)
  assert.equal(project.git('status', '--porcelain'), status)

  await store.undo(await store.planUndo(undone.turn))
  assert.deepEqual(project.tree(), after, 'the undo is undone')
})

test('without a name the newest standing turn is meant: undo goes back step by step', async () => {
  using project = new Project()
  const store = project.snapshots()
  for (const version of ['1', '2', '3']) await turn(project, store, `t${version}`, () => project.write('a', version))
  const last = async () => lastUndoable(await store.list())?.turn
  const undoLast = async () => {
    const plan = await store.planUndo((await last())!)
    await project.clock.turn(1000)
    const { turn } = await store.undo(plan)
    return [plan.turn.turn, project.tree(), turn] as const
  }
  assert.deepEqual((await undoLast()).slice(0, 2), ['t3', { a: 'file 2' }])
  const [name, tree, undo] = await undoLast()
  assert.deepEqual([name, tree], ['t2', { a: 'file 1' }])
  await project.clock.turn(1000)
  await store.undo(await store.planUndo(undo))
  assert.deepEqual(project.tree(), { a: 'file 2' })
  await project.clock.turn(1000)
  assert.equal(await last(), 't2', 'what was done again stands again')
  assert.deepEqual((await store.list()).map(({ prompt, undoes }) => [prompt, undoes]).slice(3, 5), [
    ['undo: do t3', 't3'],
    ['undo: do t2', 't2'],
  ])
  await undoLast()
  await turn(project, store, 'idle', () => {})
  await undoLast()
  assert.deepEqual(
    [project.tree(), await last()],
    [{}, undefined],
    'a turn that changed nothing is passed over, and an undo is never meant',
  )
})

test('files that were changed again after the turn are named, kept aside and restored by undoing the undo', async () => {
  using project = new Project()
  const store = project.snapshots()
  project.write('both', 'before')
  project.write('same', 'before')
  project.write('killed', 'before')
  project.write('later', 'mine')
  await turn(project, store, 't1', () => {
    for (const path of ['both', 'same', 'killed', 'fresh/new']) project.write(path, 'by the turn')
  })
  project.write('both', 'by me')
  project.write('fresh/new', 'mine too')
  project.write('later', 'mine, changed')
  project.write('same', 'before')
  unlinkSync(join(project.root, 'killed'))
  const now = project.tree()
  const plan = await store.planUndo('t1')
  assert.deepEqual(plan.steps, [
    { action: 'restore', path: 'both', conflict: true },
    { action: 'delete', path: 'fresh/new', conflict: true },
    { action: 'restore', path: 'killed', conflict: true },
  ])
  assert.deepEqual(plan.conflicts, ['both', 'fresh/new', 'killed'])
  const { aside, turn: undo } = await store.undo(plan)
  assert.deepEqual(project.tree(), {
    both: 'file before',
    killed: 'file before',
    same: 'file before',
    later: 'file mine, changed',
  })
  assert.deepEqual(aside!.files, ['both', 'fresh/new'])
  assert.deepEqual(project.tree(aside!.folder), { both: 'file by me', 'fresh/new': 'file mine too' })
  await store.undo(await store.planUndo(undo))
  assert.deepEqual(project.tree(), now)
})

test('a link comes back where a folder without files stands', async () => {
  using project = new Project()
  const at = (path: string) => join(project.root, path)
  symlinkSync('elsewhere', at('link'))
  const tree = project.tree()
  const store = project.snapshots()
  await turn(project, store, 't', () => {
    renameSync(at('link'), at('moved'))
    mkdirSync(at('link/hollow'), { recursive: true })
  })
  const undone = await store.undo(await store.planUndo('t'))
  assert.deepEqual([undone.left, project.tree()], [[], tree])
})

test('an undo writes nothing through a link, and removes no folder with other files', async (t) => {
  using project = new Project()
  const store = project.snapshots()
  project.write('.gitignore', '*.log\n')
  project.write('d/file', 'one')
  project.write('spot', 'file')
  await turn(project, store, 't1', () => {
    project.write('d/file', 'two')
    unlinkSync(join(project.root, 'spot'))
    project.write('spot/keep.log', 'ignored')
  })
  rmSync(join(project.root, 'd'), { recursive: true })
  mkdirSync(join(project.place, 'elsewhere'))
  symlinkSync(join(project.place, 'elsewhere'), join(project.root, 'd'))
  const { left } = await store.undo(await store.planUndo('t1'))
  golden(t, left)
  assert.deepEqual(project.tree(join(project.place, 'elsewhere')), {})
  assert.deepEqual(project.tree()['spot/keep.log'], 'file ignored')
})

test('a file that a changed .gitignore brought up was there before, and stays', async (t) => {
  using project = new Project()
  const store = project.snapshots()
  project.write('.gitignore', 'secret*\n/data/\n')
  project.write('secret.txt', 'old and dear')
  project.write('data/big', 'also')
  await turn(project, store, 't1', () => {
    project.write('.gitignore', '')
    project.write('made.txt', 'new')
  })
  const plan = await store.planUndo('t1')
  assert.deepEqual(plan.steps, [
    { action: 'restore', path: '.gitignore' },
    { action: 'delete', path: 'made.txt' },
  ])
  golden(t, plan.left)
  await store.undo(plan)
  assert.deepEqual(project.tree(), {
    '.gitignore': 'file secret*\n/data/\n',
    'secret.txt': 'file old and dear',
    'data/big': 'file also',
  })
})

test('a file keeps who may read it, and a repository inside is left alone', async (t) => {
  using project = new Project()
  const store = project.snapshots()
  project.write('private', 'one')
  chmodSync(join(project.root, 'private'), 0o600)
  mkdirSync(join(project.root, 'inner'))
  project.git('init', '-q', 'inner')
  project.write('inner/file', 'one')
  project.git('-C', 'inner', 'add', '-A')
  project.git('-C', 'inner', 'commit', '-qm', 'one')
  await turn(project, store, 't1', () => {
    project.write('private', 'two')
    project.write('inner/file', 'two')
    project.git('-C', 'inner', 'commit', '-qam', 'two')
  })
  const plan = await store.planUndo('t1')
  golden(t, [plan.steps, plan.left])
  await store.undo(plan)
  assert.equal(lstatSync(join(project.root, 'private')).mode & 0o777, 0o600)
  assert.equal(project.tree()['private'], 'file one')
  assert.equal(project.tree()['inner/file'], 'file two')
})

test('an interrupted turn, kept without its end, is undone from the present files', async () => {
  using project = new Project()
  const store = project.snapshots()
  project.write('a', 'one')
  await store.keep('t1', { before: await treeOf(store), at: project.clock.now(), prompt: 'half' })
  project.write('a', 'two')
  project.write('b', 'new')
  assert.deepEqual(
    (await store.diff('t1')).stat.map(({ file, status }) => [file, status]),
    [
      ['a', 'modified'],
      ['b', 'added'],
    ],
  )
  await store.undo(await store.planUndo('t1'))
  assert.deepEqual(project.tree(), { a: 'file one' })
})

test('a turn that was not kept is reported as such', async (t) => {
  using project = new Project()
  const store = project.snapshots()
  await golden.rejects(t, store.planUndo('t9'))
  await golden.rejects(t, store.diff('t9'))
})

const other = '/dev/shm'
const skip =
  existsSync(other) && statSync(other).dev !== statSync(tmpdir()).dev
    ? false
    : 'there is no second file system to write to'

test('a store on another file system gives files back all the same', { skip }, async (t) => {
  using project = new Project()
  const home = mkdtempSync(join(other, 'termaite-safety-'))
  t.after(() => rmSync(home, { recursive: true }))
  const { root, env, clock } = project
  const store = snapshots({ dir: join(home, 'projects', 'p', 'snapshots'), root, env, clock })
  project.write('run', 'one')
  chmodSync(join(root, 'run'), 0o750)
  await turn(project, store, 't1', () => project.write('run', 'two'))
  await store.undo(await store.planUndo('t1'))
  assert.deepEqual(project.tree(), { run: 'run one' })
  assert.equal(lstatSync(join(root, 'run')).mode & 0o777, 0o750)
})

test('another process sees an undo and a redo that came after a turn, and none that came before it', async () => {
  using project = new Project()
  const [here, elsewhere] = [project.snapshots(), project.snapshots()]
  const seen: boolean[] = [await elsewhere.undoneSince('')]
  await turn(project, here, newId(1), () => project.write('a.txt', 'a\n'))
  seen.push(await elsewhere.undoneSince(newId(0)))
  await project.clock.turn(1)
  const undone = await here.undo(await here.planUndo((await here.list()).at(-1)!.turn))
  seen.push(await elsewhere.undoneSince(newId(2)), await elsewhere.undoneSince(newId(Date.now() + 1e6)))
  await project.clock.turn(1)
  const redo = await here.undo(await here.planUndo(undone.turn))
  seen.push(await elsewhere.undoneSince(undone.turn), await elsewhere.undoneSince(redo.turn))
  assert.deepEqual(seen, [false, false, true, false, true, false])
})
