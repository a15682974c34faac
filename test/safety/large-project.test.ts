import { test } from 'node:test'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { until } from '../until.ts'
import { Project, treeOf } from './project.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Limits by which a few hundred files are many. */
const many = 300
const limits = { large: { index: 10_000, files: 200 }, packs: { from: 100, files: 200 } }

function fill(project: Project, count = many): void {
  for (let i = 0; i < count; i++) project.write(`src/folder-with-a-long-name-${i % 30}/file-${i}.txt`, `content ${i}\n`)
}

/** A repository of many files, of every kind that the person's index may know. */
function largeRepository(project: Project, version = '2'): void {
  project.git('init', '-q')
  project.git('config', 'index.version', version)
  fill(project)
  project.write('.gitattributes', '*.crlf text\n*.id ident\n*.same filter=rot\n')
  project.git('config', 'filter.rot.clean', 'tr a-z b-za')
  project.git('config', 'filter.rot.smudge', 'tr b-za a-z')
  project.write('a.crlf', 'one\r\ntwo\r\n')
  project.write('a.id', '$Id$')
  project.write('a.same', 'abc')
  project.write('run', '#!/bin/sh\n')
  chmodSync(join(project.root, 'run'), 0o755)
  symlinkSync('run', join(project.root, 'link'))
  project.write('assumed', 'before')
  project.write('skipped', 'before')
  project.write('deleted', 'x')
  project.write('edited', 'x')
  project.write('tab\tand\nline', 'odd')
  project.git('add', '-A')
  project.git('commit', '-qm', 'one')
  project.git('update-index', '--assume-unchanged', 'assumed')
  project.git('update-index', '--skip-worktree', 'skipped')
  project.write('assumed', 'changed behind git')
  project.write('skipped', 'changed behind git too')
  rmSync(join(project.root, 'deleted'))
  project.write('edited', 'y')
  project.write('untracked', 'z')
  // A file that was checked out has the bytes that the filters made.
  rmSync(join(project.root, 'a.id'))
  project.git('checkout', '--', 'a.id')
}

/** Empties the project and undoes that. */
async function broughtBack(project: Project, store: Snapshots, tree: string): Promise<Record<string, string>> {
  for (const name of readdirSync(project.root))
    if (name !== '.git') rmSync(join(project.root, name), { recursive: true, force: true })
  await store.keep('all', { before: tree, after: await treeOf(store), at: project.clock.now(), prompt: 'all' })
  await store.undo(await store.planUndo('all'))
  return project.tree()
}

for (const version of ['2', '4'])
  test(`the first take of a large repository begins with its index (version ${version}) and holds every byte as it is on the disk`, async () => {
    using project = new Project()
    largeRepository(project, version)
    const before = project.tree()
    const index = readFileSync(join(project.root, '.git', 'index'))
    const store = project.snapshots(limits)
    assert.equal(await store.large(), true)
    const tree = await treeOf(store)
    assert.deepEqual(readFileSync(join(project.root, '.git', 'index')), index, 'the person’s index stays as it is')
    const plain = snapshots({ ...storeParts(project), root: project.root, limits })
    rmSync(join(project.root, '.git'), { recursive: true, force: true, maxRetries: 3 })
    assert.equal(await treeOf(plain), tree, 'the same tree as of a folder without git')
    plain.stop()
    store.stop()
    assert.equal(Object.keys(before).length, many + 11)
  })

/** A second store of the same project, with nothing in it. */
function storeParts({ place, env, clock }: Project) {
  return { dir: join(place, 'user', 'other', 'projects', 'p', 'snapshots'), env, clock }
}

test('borrowed contents are copied into the store, after which an undo needs the repository no more', async () => {
  using project = new Project()
  largeRepository(project)
  const before = project.tree()
  const store = project.snapshots(limits)
  const tree = await treeOf(store)
  await until(() => !existsSync(join(project.dir, 'borrowed')))
  rmSync(join(project.root, '.git'), { recursive: true, force: true, maxRetries: 3 })
  assert.deepEqual(await broughtBack(project, store, tree), before)
  store.stop()
})

test('an undo works while the contents are still borrowed, and the next process goes on to copy them', async () => {
  using project = new Project()
  largeRepository(project)
  const before = project.tree()
  const first = project.snapshots(limits)
  const tree = await treeOf(first)
  first.stop()
  const lent = join(project.dir, 'borrowed')
  assert.equal(existsSync(lent), true)
  const store = project.snapshots(limits)
  assert.deepEqual(await broughtBack(project, store, tree), before)
  await until(() => !existsSync(lent))
  store.stop()
})

test('a first take that is ended keeps its copies, and the next one goes on from there', async () => {
  using project = new Project()
  fill(project, 2_000)
  const index = join(project.dir, 'index')
  const first = project.snapshots(limits)
  const taking = first.take()
  await until(() => existsSync(index))
  first.stop()
  await taking
  const packs = readdirSync(join(project.dir, 'objects', 'pack')).filter((name) => name.endsWith('.pack'))
  assert.ok(packs.length > 0, 'the first portion is in the store')
  assert.equal(project.snapshots(limits).copied, false)
  const store = project.snapshots(limits)
  const before = project.tree()
  const tree = await treeOf(store)
  assert.equal(store.copied, true)
  assert.deepEqual(await broughtBack(project, store, tree), before)
})

test('packs with contents that no turn needs any more are replaced by one with the rest', async () => {
  using project = new Project()
  const store = project.snapshots({ ...limits, turns: 1 })
  const packs = () => readdirSync(join(project.dir, 'objects', 'pack')).filter((name) => name.endsWith('.pack'))
  fill(project)
  await treeOf(store)
  for (let i = 0; i < many; i++) project.write(`src/folder-with-a-long-name-${i % 30}/file-${i}.txt`, `other ${i}\n`)
  const before = await treeOf(store)
  assert.equal(packs().length, 4)
  await project.clock.turn(2 * 24 * 3_600_000)
  project.write('more', 'x')
  const after = await treeOf(store)
  // Only now: git renews the time of a pack whose contents a take has to read again.
  for (const name of readdirSync(join(project.dir, 'objects', 'pack')))
    utimesSync(join(project.dir, 'objects', 'pack', name), 1, 1)
  await store.keep('t', { before, after, at: project.clock.now(), prompt: 't' })
  assert.equal(packs().length, 1)
  await store.undo(await store.planUndo('t'))
  assert.equal(project.tree()['src/folder-with-a-long-name-1/file-1.txt'], 'file other 1\n')
})

/** The names of git's temporary files below a folder. */
function temporary(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /tmp_|\.lock$|^work\/|\/\.[0-9a-z]+$/.test(name),
  )
}

test('a take on a full disk leaves nothing behind, says so, and the next one with room succeeds', async (t) => {
  using project = new Project()
  const disk = mkdtempSync(join(tmpdir(), 'termaite-disk-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk], { encoding: 'utf8' })
  t.after(() => {
    if (mounted.status === 0) execFileSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true, force: true })
  })
  if (mounted.status !== 0) return t.skip(`nothing can be mounted here: ${mounted.stderr?.trim()}`)
  const dir = join(disk, 'projects', 'p', 'snapshots')
  project.write('small', 'one')
  const store = snapshots({ dir, root: project.root, env: project.env, clock: project.clock })
  const kept = await treeOf(store)
  const room = () => Number(spawnSync('df', ['--output=avail', disk], { encoding: 'utf8' }).stdout.split('\n')[1])
  const before = room()
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(1_500_000))
  for (let i = 0; i < 40; i++) project.write(`large/${i}`, randomBytes(100_000))
  golden(t, await store.take())
  assert.deepEqual(temporary(dir), [])
  rmSync(join(disk, 'ballast'))
  assert.ok(before - room() < 16, `all of the room is free again: ${before} KB, ${room()} KB`)
  rmSync(join(project.root, 'large'), { recursive: true })
  assert.equal(await treeOf(store), kept)
})

test('a git that finds no room for some files fails the take: a tree without them would have them deleted by an undo', async (t) => {
  using project = new Project()
  const bin = join(project.place, 'bin')
  mkdirSync(bin)
  const words = 'error: unable to write file objects/aa/x: No space left on device'
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh\ncase "$*" in *"add -A"*) touch "$GIT_OBJECT_DIRECTORY/tmp_obj_x"; echo "${words}" >&2; exit 1;; esac\nPATH=\${PATH#*:} exec git "$@"\n`,
    { mode: 0o755 },
  )
  project.write('a', 'one')
  const store = project.snapshots({}, { env: { ...project.env, PATH: `${bin}:${project.env.PATH}` } })
  golden(t, await store.take())
  assert.deepEqual(temporary(project.dir), [])
  assert.equal(statSync(project.dir).isDirectory(), true)
})
