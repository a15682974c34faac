import type { Snapshots } from '../../src/safety/snapshots/snapshots.ts'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { withFolderSnapshots } from '../../src/safety/snapshots/folder-snapshots.ts'
import { goldenOf } from '../golden.ts'
import { Project } from './project.ts'

const golden = goldenOf(import.meta.filename)

/** The snapshots of a project as a run opens them. */
function opened(project: Project, root = project.root): Snapshots {
  const { dir, env, clock } = project
  const open = (dir: string, root: string, canBeGone = false) => snapshots({ dir, root, env, clock, canBeGone })
  return withFolderSnapshots({ project: open(dir, root), root, dir, folders: () => [], open })
}

/** A project with a file, and one committed repository at each of the paths. */
function ground(t: TestContext, ...nested: string[]) {
  const project = new Project()
  t.after(() => project.remove())
  project.git('init', '-q')
  project.write('own.txt', 'own\n')
  for (const path of nested) {
    project.write(`${path}/a.txt`, 'one\n')
    project.write(`${path}/b.txt`, 'some\nlines\nof text\n')
    project.git('init', '-q', path)
    project.git('-C', path, 'add', '-A')
    project.git('-C', path, 'commit', '-qm', 'one')
  }
  const remove = (path: string) => rmSync(join(project.root, path), { recursive: true })
  return { project, remove }
}

let turns = 0

/** Does some work in a turn; returns the turn. */
async function worked(store: Snapshots, work: () => void): Promise<string> {
  const turn = `turn-${++turns}`
  const record = { at: turns, prompt: 'work' }
  const take = async () => {
    const taken = await store.take()
    if ('off' in taken) throw new Error(taken.off)
    return taken.tree
  }
  const before = await take()
  await store.keep(turn, { ...record, before })
  work()
  await store.keep(turn, { ...record, before, after: await take() })
  return turn
}

const undone = async (store: Snapshots, turn: string) => store.undo(await store.planUndo(turn))

test('changes in repositories inside the project are shown with its paths and undone, and their .git is not touched', async (t) => {
  const { project, remove } = ground(t, 'lib', 'lib/inner', 'vendor/deep')
  const store = opened(project)
  const before = project.tree(project.root, 'nothing')
  const turn = await worked(store, () => {
    project.write('own.txt', 'changed\n')
    project.write('lib/a.txt', 'two\n')
    project.write('lib/inner/new.txt', 'new\n')
    remove('vendor/deep/a.txt')
    renameSync(join(project.root, 'vendor/deep/b.txt'), join(project.root, 'vendor/deep/c.txt'))
  })
  const { patch, stat } = await store.diff(turn)
  golden(t, patch)
  assert.deepEqual(
    stat.map(({ status, file, was }) => [status, file, was]),
    [
      ['modified', 'own.txt', undefined],
      ['modified', 'lib/a.txt', undefined],
      ['deleted', 'vendor/deep/a.txt', undefined],
      ['renamed', 'vendor/deep/c.txt', 'vendor/deep/b.txt'],
      ['added', 'lib/inner/new.txt', undefined],
    ],
  )
  const plan = await store.planUndo(turn)
  assert.deepEqual(
    [plan.steps.map(({ action, path, to }) => [action, path, to]), plan.left],
    [
      [
        ['restore', 'own.txt', undefined],
        ['restore', 'lib/a.txt', undefined],
        ['restore', 'vendor/deep/a.txt', undefined],
        ['rename', 'vendor/deep/c.txt', 'vendor/deep/b.txt'],
        ['delete', 'lib/inner/new.txt', undefined],
      ],
      [],
    ],
  )
  const { left, turn: undo } = await store.undo(plan)
  assert.deepEqual([left, project.tree(project.root, 'nothing')], [[], before])
  // The undo is undone by its name.
  await undone(store, undo)
  assert.equal(readFileSync(join(project.root, 'lib/a.txt'), 'utf8'), 'two\n')
})

test('a submodule counts as a repository inside the project, and a commit in it stays while its files are undone', async (t) => {
  const { project } = ground(t, 'lib')
  project.git('-c', 'advice.addEmbeddedRepo=false', 'add', '-A')
  project.git('commit', '-qm', 'with a link to the commit')
  const store = opened(project)
  const turn = await worked(store, () => {
    project.write('lib/a.txt', 'two\n')
    project.git('-C', 'lib', 'commit', '-qam', 'two')
  })
  const head = project.git('-C', 'lib', 'rev-parse', 'HEAD')
  assert.deepEqual(
    (await store.stat(turn)).map(({ file }) => file),
    ['lib', 'lib/a.txt'],
  )
  golden(t, (await undone(store, turn)).left)
  assert.deepEqual(
    [readFileSync(join(project.root, 'lib/a.txt'), 'utf8'), project.git('-C', 'lib', 'rev-parse', 'HEAD')],
    ['one\n', head],
  )
})

test('the files of a deleted repository come back, and its .git is said to be gone', async (t) => {
  const { project, remove } = ground(t, 'vendor/lib')
  const store = opened(project)
  const before = project.tree()
  const turn = await worked(store, () => remove('vendor'))
  const { left } = await undone(store, turn)
  assert.deepEqual(project.tree(), withoutGit(before))
  golden(t, left)
  // A later turn does not disturb the undo of this one.
  const other = await worked(store, () => project.write('own.txt', 'later\n'))
  assert.deepEqual(
    (await store.stat(other)).map(({ file }) => file),
    ['own.txt'],
  )
})

const withoutGit = (tree: Record<string, string>) =>
  Object.fromEntries(Object.entries(tree).filter(([path]) => !path.includes('.git/')))

test('a repository that lost only its .git keeps its files', async (t) => {
  const { project, remove } = ground(t, 'lib')
  const store = opened(project)
  const turn = await worked(store, () => {
    remove('lib/.git')
    project.write('lib/a.txt', 'two\n')
  })
  const { left } = await undone(store, turn)
  golden(t, left)
  assert.deepEqual(project.tree(), {
    'own.txt': 'file own\n',
    'lib/a.txt': 'file one\n',
    'lib/b.txt': 'file some\nlines\nof text\n',
  })
})

test('a repository that came during the turn stays, and is named', async (t) => {
  const { project } = ground(t)
  const store = opened(project)
  const turn = await worked(store, () => {
    project.write('new/a.txt', 'one\n')
    project.git('init', '-q', 'new')
    project.git('-C', 'new', 'add', '-A')
    project.git('-C', 'new', 'commit', '-qm', 'one')
    // One without a commit has only its files.
    project.git('init', '-q', 'bare-start')
  })
  const { left } = await undone(store, turn)
  golden(t, left)
  assert.equal(existsSync(join(project.root, 'new/a.txt')), true)
})

test('nothing is read or written behind a link in the place of a repository', async (t) => {
  const { project, remove } = ground(t, 'lib')
  const store = opened(project)
  const elsewhere = join(project.place, 'elsewhere')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'a.txt'), 'theirs\n')
  const turn = await worked(store, () => {
    remove('lib')
    symlinkSync(elsewhere, join(project.root, 'lib'))
  })
  await undone(store, turn)
  assert.equal(readFileSync(join(elsewhere, 'a.txt'), 'utf8'), 'theirs\n')
})

test('the snapshots of repositories inside a project go with it to another place', async (t) => {
  const { project } = ground(t, 'lib')
  const turn = await worked(opened(project), () => project.write('lib/a.txt', 'two\n'))
  const root = join(project.place, 'moved')
  renameSync(project.root, root)
  assert.deepEqual((await undone(opened(project, root), turn)).left, [])
  assert.equal(readFileSync(join(root, 'lib/a.txt'), 'utf8'), 'one\n')
})

test('a project without repositories inside has snapshots of its own alone', async (t) => {
  const { project } = ground(t)
  const store = opened(project)
  await worked(store, () => project.write('own.txt', 'two\n'))
  const taken = await store.take()
  assert.ok('tree' in taken && /^[0-9a-f]{40}$/.test(taken.tree), JSON.stringify(taken))
})

test('a turn that changed or deleted ignored files with keys names them, unless the project keeps them itself', async (t) => {
  const { project, remove } = ground(t, 'lib')
  for (const path of ['.env', '.env.local', 'app/web/.env', '.env.example', 'kept/.env']) project.write(path, 'KEY=1\n')
  project.write('kept/.gitignore', '!.env\n')
  const store = opened(project)
  const turn = await worked(store, () => {
    remove('.env')
    for (const path of ['app/web/.env', '.env.example', 'kept/.env', 'new/.envrc', 'lib/.env'])
      project.write(path, 'KEY=two\n')
  })
  assert.deepEqual((await store.list()).find((record) => record.turn === turn)!.uncopied, [
    '.env',
    'app/web/.env',
    'new/.envrc',
    'lib/.env',
  ])
  assert.deepEqual(
    (await store.stat(turn)).map(({ file }) => file),
    ['.env.example', 'kept/.env'],
  )
  golden(t, (await store.planUndo(turn)).left)
})
