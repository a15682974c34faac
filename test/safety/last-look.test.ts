import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { findOutside } from '../../src/base/process/program-path.ts'
import { snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { Project, treeOf } from './project.ts'

/** A project whose git writes down each of its starts. */
function watched() {
  const project = new Project()
  const log = join(project.place, 'starts')
  const bin = join(project.place, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$@" >> '${log}'\nexec '${realGit}' "$@"\n`, { mode: 0o755 })
  const env = { ...project.env, PATH: `${bin}:${project.env.PATH}` }
  const store = project.snapshots({}, { env })
  /** The commands that git was started with for the last tree. */
  const commands = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [])
  /** A tree, and how often git was started for it. */
  const take = async () => {
    rmSync(log, { force: true })
    const tree = await treeOf(store)
    return { tree, starts: commands().length }
  }
  /** Lets the files become old enough, and takes trees until the project was looked at. */
  const settle = async () => {
    await project.clock.turn(10_000)
    for (let tries = 0; tries < 5; tries++) if ((await take()).starts === 0) return
    assert.fail('the project was never looked at')
  }
  return { project, store, take, settle, commands }
}

const realGit = findOutside('git', process.env, '/nowhere')!

/** The tree that a store takes which knows nothing of the project. */
function freshTree({ place, root, env, clock }: Project): Promise<string> {
  const dir = join(place, 'user', '.termaite', 'projects', `fresh-${Math.random()}`, 'snapshots')
  const store: Snapshots = snapshots({ dir, root, env, clock })
  return treeOf(store)
}

function filled(project: Project): void {
  project.git('init', '-q')
  project.write('.gitignore', 'build/\n*.log\n')
  project.write('read.me', 'hello')
  project.write('src/one.ts', 'one')
  project.write('src/deep/two.ts', 'two')
  project.write('build/out.js', 'built')
  project.write('notes.log', 'noted')
  mkdirSync(join(project.root, 'empty'))
  symlinkSync('read.me', join(project.root, 'link'))
}

test('the first turn of a project starts git for its tree alone, and a young project that did not change once', async () => {
  const { project, store, take, commands } = watched()
  using _ = project
  project.write('read.me', 'hello')
  const { tree: before } = await take()
  await store.keep('t1', { before, at: project.clock.now(), prompt: 'hello' })
  const [looks, adds, writes] = [
    'ls-files -z -o -m --exclude-standard',
    'add -A --ignore-errors --pathspec-from-file=- --pathspec-file-nul',
    'write-tree',
  ]
  assert.deepEqual(commands(), [looks, adds, writes])
  assert.deepEqual(await take(), { tree: before, starts: 1 })
  // The next tree waits for whatever the one before it goes on with.
  await treeOf(store)
  assert.deepEqual(commands(), [looks, looks])
})

test('a small project that looks as before is known without git', async () => {
  const { project, take, settle } = watched()
  using _ = project
  filled(project)
  const first = await take()
  assert.ok(first.starts > 0)
  await settle()
  assert.deepEqual(await take(), { tree: first.tree, starts: 0 })
  // Changes of files that are ignored, in folders that are ignored, do not matter.
  project.write('build/more.js', 'more')
  project.write('notes.log', 'noted again')
  assert.deepEqual(await take(), { tree: first.tree, starts: 0 })
})

const changes: Record<string, (project: Project) => void> = {
  // Folders of some file systems keep their times, whatever becomes of their files.
  'a new file in a folder that keeps its times': (project) => {
    const folder = join(project.root, 'src')
    project.write('src/new.ts', 'new')
    const look = join(project.dir, 'look')
    const kept = JSON.parse(readFileSync(look, 'utf8')) as { seen: [string, string][] }
    const { mode, ino, mtimeMs, ctimeMs } = lstatSync(folder)
    const seen = kept.seen.map(([path, mark]) => [
      path,
      path === 'src' ? mark.replace(/^\S+ \S+ \S+ \S+/, `${mode} ${ino} ${mtimeMs} ${ctimeMs}`) : mark,
    ])
    writeFileSync(look, JSON.stringify({ ...kept, seen }))
  },
  'other bytes of the same length': ({ root }) => writeFileSync(join(root, 'read.me'), 'HELLO'),
  'other bytes of the same length, with the old time': ({ root }) => {
    const { atime, mtime } = statSync(join(root, 'read.me'))
    writeFileSync(join(root, 'read.me'), 'HELLO')
    utimesSync(join(root, 'read.me'), atime, mtime)
  },
  'a new file': (project) => project.write('new.ts', 'new'),
  'a new file in a folder without files': (project) => project.write('empty/new.ts', 'new'),
  'a file that is gone': ({ root }) => rmSync(join(root, 'src/deep/two.ts')),
  'a file with another name': ({ root }) => renameSync(join(root, 'src/one.ts'), join(root, 'src/uno.ts')),
  'a file that can be run': ({ root }) => chmodSync(join(root, 'src/one.ts'), 0o755),
  'a link to another file': ({ root }) => {
    rmSync(join(root, 'link'))
    symlinkSync('src/one.ts', join(root, 'link'))
  },
  'a file that is no longer ignored': (project) => project.write('.gitignore', 'build/\n'),
  'a rule in a folder': (project) => project.write('src/.gitignore', 'one.ts\n'),
  'a rule of the repository': ({ root }) => writeFileSync(join(root, '.git/info/exclude'), 'src/deep\n'),
  'a rule of the person': ({ env }) => {
    mkdirSync(join(env.HOME, '.config/git'), { recursive: true })
    writeFileSync(join(env.HOME, '.config/git/ignore'), 'deep\n')
  },
  'a file of rules that the person names': ({ env, place }) => {
    writeFileSync(join(place, 'rules'), 'deep\n')
    writeFileSync(join(env.HOME, '.gitconfig'), `[core]\n\texcludesFile = ${place}/rules\n`)
  },
  'a file of rules that the repository names': (project) => {
    writeFileSync(join(project.place, 'rules'), 'deep\n')
    project.git('config', 'core.excludesFile', `${project.place}/rules`)
  },
  'an ignored file that was added by force': (project) => void project.git('add', '-f', 'notes.log'),
}

for (const [name, change] of Object.entries(changes))
  test(`a change is found after a look: ${name}`, async () => {
    const { project, take, settle } = watched()
    using _ = project
    filled(project)
    await settle()
    const before = await take()
    change(project)
    const after = await take()
    assert.ok(after.starts > 0)
    // A rule does not drop what snapshots already have.
    if (name.includes('rules') || name.startsWith('a rule')) return
    assert.notEqual(after.tree, before.tree)
    assert.equal(after.tree, await freshTree(project))
  })

test('a project that changed a moment ago is not kept as it looks, because it can change again and look the same', async () => {
  const { project, take } = watched()
  using _ = project
  filled(project)
  for (let time = 0; time < 4; time++) assert.ok((await take()).starts > 0)
  assert.equal(existsSync(join(project.dir, 'look')), false)
})

test('files that were only touched are looked at by git once more', async () => {
  const { project, take, settle } = watched()
  using _ = project
  filled(project)
  await settle()
  const { tree } = await take()
  const past = new Date(Date.now() - 3_600_000)
  utimesSync(join(project.root, 'read.me'), past, past)
  const again = await take()
  assert.deepEqual({ tree: again.tree, isAsked: again.starts > 0 }, { tree, isAsked: true })
  await settle()
  assert.deepEqual(await take(), { tree, starts: 0 })
})

test('a large project is left to git, and is not looked at again before it changes', async () => {
  const { project, take } = watched()
  using _ = project
  filled(project)
  for (let number = 0; number < 1_100; number++) project.write(`many/${number}`, '')
  await take()
  await project.clock.turn(10_000)
  // The second take is followed by a look, and the third one waits for it.
  for (let time = 0; time < 2; time++) await take()
  assert.equal((await take()).starts, 1)
  assert.equal((await take()).starts, 1)
})

test('a look that was torn or written by somebody else is no look', async () => {
  const { project, take, settle } = watched()
  using _ = project
  filled(project)
  await settle()
  const { tree } = await take()
  for (const torn of ['', '{"index":', 'null', '{}', '[]', '{"index":1,"outside":1,"seen":1}']) {
    writeFileSync(join(project.dir, 'look'), torn)
    const again = await take()
    assert.deepEqual({ tree: again.tree, isAsked: again.starts > 0 }, { tree, isAsked: true }, torn)
  }
})
