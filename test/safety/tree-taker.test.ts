import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { snapshots } from '../../src/safety/snapshots/snapshots.ts'
import { Project, turn, treeOf } from './project.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** The files of a snapshot, read back by undoing everything into an emptied tree. */
async function heldBy(project: Project, store: Snapshots, tree: string): Promise<Record<string, string>> {
  for (const name of readdirSync(project.root, { encoding: 'buffer' })) {
    if (name.toString() !== '.git') rmSync(Buffer.concat([Buffer.from(`${project.root}/`), name]), { recursive: true })
  }
  await store.keep('all', { before: tree, after: await treeOf(store), at: project.clock.now(), prompt: 'all' })
  await store.undo(await store.planUndo('all'))
  return project.tree()
}

test('bytes are exact whatever the attributes, filters and configuration of the user say', async () => {
  using project = new Project()
  project.git('init', '-q')
  writeFileSync(
    join(project.env.HOME, '.gitconfig'),
    `[core]\n\tautocrlf = true\n\tsafecrlf = true\n\tfsmonitor = touch ${project.place}/ran; false\n\thooksPath = ${project.place}/hooks\n\tattributesFile = ${project.place}/attributes\n\tignoreStat = true\n[filter "shout"]\n\tclean = tr a-z A-Z\n\trequired = true\n`,
  )
  writeFileSync(join(project.place, 'attributes'), '*.txt text eol=crlf\n')
  mkdirSync(join(project.place, 'hooks'))
  writeFileSync(join(project.place, 'hooks', 'post-index-change'), `#!/bin/sh\ntouch ${project.place}/ran\n`, {
    mode: 0o755,
  })
  project.write(
    '.gitattributes',
    '* text=auto\n*.id ident\n*.shout filter=shout\n*.wide working-tree-encoding=UTF-16\n*.crlf crlf\n*.off -diff\n',
  )
  project.write('mixed.txt', 'a\r\nb\nc\r')
  project.write('x.id', '$Id$ $Id: abc $')
  project.write('x.shout', 'quiet')
  project.write('x.wide', 'not wide at all')
  project.write('x.crlf', 'a\r\n')
  project.write('x.off', 'text')
  project.write(
    'bytes.bin',
    Uint8Array.from({ length: 512 }, (_, i) => i % 256),
  )
  const before = project.tree()
  const store = project.snapshots()
  assert.deepEqual(await heldBy(project, store, await treeOf(store)), before)
  assert.equal(existsSync(join(project.place, 'ran')), false, 'no program of the user ran')
  await turn(project, store, 't1', () => project.write('x.off', 'other'))
  assert.match((await store.diff('t1')).patch, /-text\n.*\n\+other/, 'attributes hide nothing from a patch')
})

test('odd names, links and modes are kept', async () => {
  using project = new Project()
  for (const name of [
    'new\nline',
    'tab\there',
    '"quoted"',
    "it's",
    '-dash',
    '--force',
    ':(top)x',
    ':!y',
    '*',
    '[a]',
    'sp ace ',
    'ünïcode',
    '\\back',
    '#hash',
    '!bang',
  ])
    project.write(name, name)
  project.write('sub/:(glob)**', 'deep')
  writeFileSync(Buffer.concat([Buffer.from(`${project.root}/latin-`), Buffer.from([0xe9, 0xff])]), 'not UTF-8')
  project.write('run', '#!/bin/sh')
  chmodSync(join(project.root, 'run'), 0o755)
  symlinkSync('nowhere\nat all', join(project.root, 'dangling'))
  const before = project.tree()
  const store = project.snapshots()
  assert.deepEqual(await heldBy(project, store, await treeOf(store)), before)
})

test('every rule of ignoring counts, and ignored files that the user tracks are in the tree', async () => {
  using project = new Project()
  project.git('init', '-q')
  mkdirSync(join(project.env.HOME, '.config', 'git'), { recursive: true })
  writeFileSync(join(project.env.HOME, '.config', 'git', 'ignore'), '*.global\n')
  project.write('.gitignore', '*.tracked\n*.ignored\n')
  writeFileSync(join(project.root, '.git', 'info', 'exclude'), '*.excluded\n')
  for (const name of ['a', 'a.global', 'a.ignored', 'a.excluded', 'a.tracked']) project.write(name, 'one')
  project.git('add', '-f', 'a.tracked')
  const store = project.snapshots()
  await turn(project, store, 't1', () => {
    for (const name of ['a', 'a.global', 'a.ignored', 'a.excluded', 'a.tracked']) project.write(name, 'two')
  })
  assert.deepEqual(
    (await store.diff('t1')).stat.map(({ file }) => file),
    ['a', 'a.tracked'],
  )

  writeFileSync(join(project.place, 'own-rules'), '*.local\n')
  project.git('config', 'core.excludesFile', join(project.place, 'own-rules'))
  const before = await treeOf(store)
  project.write('a.local', 'one')
  project.write('b', 'one')
  assert.deepEqual(await store.changed(before), ['b'])
})

for (const home of ['odd [home]', '..home'])
  test(`our own home inside the project is no part of it: ${home}`, async () => {
    using project = new Project()
    const dir = join(project.root, home, 'projects', 'p', 'snapshots')
    project.write(`${home}/history.jsonl`, 'said')
    project.write('a', 'one')
    const { root, env, clock } = project
    const store = snapshots({ dir, root, env, clock })
    const before = await treeOf(store)
    project.write(`${home}/history.jsonl`, 'said more')
    project.write('a', 'two')
    assert.deepEqual(await store.changed(before), ['a'])
  })

test('a project that is our own home, or lies inside it, is never taken: an undo would take back conversations', async (t) => {
  using project = new Project()
  project.write('inner/a', 'one')
  const { root, env, clock } = project
  const dir = join(root, 'projects', 'p', 'snapshots')
  const takes = [root, join(root, 'inner')].map((place) => snapshots({ dir, root: place, env, clock }).take())
  golden(t, await Promise.all(takes))
  assert.deepEqual(project.tree(), { 'inner/a': 'file one' }, 'and nothing is made')
})

test('a worktree of ours lies in our home, and is a project', async () => {
  using project = new Project()
  project.write('worktrees/p/agent/a', 'one')
  const { root, env, clock } = project
  const store = snapshots({
    dir: join(root, 'projects', 'p', 'snapshots'),
    root: join(root, 'worktrees/p/agent'),
    env,
    clock,
  })
  const before = await treeOf(store)
  project.write('worktrees/p/agent/a', 'two')
  assert.deepEqual(await store.changed(before), ['a'])
})

test('looking at the snapshots of a project that was never used creates nothing', async () => {
  using project = new Project()
  assert.deepEqual([await project.snapshots().list(), existsSync(project.home)], [[], false])
})

test('a change of the same size in the same moment is seen, and one that changes nothing gives the same tree', async () => {
  using project = new Project()
  const store = project.snapshots()
  const trees = []
  for (const body of ['aaa', 'bbb', 'bbb', 'ccc', 'aaa']) {
    project.write('f', body)
    trees.push(await treeOf(store))
  }
  assert.equal(new Set(trees).size, 3)
  assert.deepEqual([trees[1], trees[0]], [trees[2], trees[4]])
  assert.equal(await treeOf(project.snapshots()), trees[4], 'another process goes on with the same index')
})

const powerful = process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status !== 0
const skip = powerful && 'root reads every file, and there is no setpriv to be less'

test('a file that cannot be read is left out and the rest is taken', { skip }, async () => {
  using project = new Project()
  project.write('a', 'one')
  project.write('closed', 'no')
  project.write('shut/in', 'no')
  const store = project.snapshots({}, { env: humbleGit(project) })
  const before = await treeOf(store)
  chmodSync(join(project.root, 'closed'), 0o000)
  project.write('also-closed', 'no')
  chmodSync(join(project.root, 'also-closed'), 0o000)
  chmodSync(join(project.root, 'shut'), 0o000)
  project.write('a', 'two')
  const changed = await store.changed(before)
  chmodSync(join(project.root, 'shut'), 0o755)
  assert.deepEqual(changed, ['a'])
})

test('files that come and go meanwhile do not fail it', async () => {
  using project = new Project()
  project.write('stays', 'here')
  const store = project.snapshots()
  const churn = spawn('sh', ['-c', 'i=0; while :; do i=$((i+1)); mkdir d$i; : >d$i/a; : >b$i; rm -r d$i b$i; done'], {
    cwd: project.root,
  })
  try {
    for (let i = 0; i < 15; i++) assert.deepEqual(Object.keys(await store.take()), ['tree'])
  } finally {
    churn.kill('SIGKILL')
    await once(churn, 'close')
  }
})

/** Root reads everything, so where we are root, git is run without that power. */
function humbleGit(project: Project): Record<string, string | undefined> {
  if (process.getuid?.() !== 0) return project.env
  const bin = join(project.place, 'bin')
  mkdirSync(bin)
  const less = '-dac_override,-dac_read_search'
  const script = `#!/bin/sh\nPATH=\${PATH#*:} exec setpriv --bounding-set=${less} --inh-caps=${less} git "$@"\n`
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 })
  return { ...project.env, PATH: `${bin}:${project.env.PATH}` }
}

test('off with a word: no git, a home, too many files, too many bytes, a folder that is gone', async (t) => {
  using project = new Project()
  for (let i = 0; i < 20; i++) project.write(`f${i}`, 'x'.repeat(100))
  const off = async (...args: Parameters<Project['snapshots']>) => project.snapshots(...args).take()
  golden(t, [
    await off({}, { env: { ...project.env, PATH: join(project.place, 'empty') } }),
    await off({}, { root: project.env.HOME }),
    await off({}, { root: project.place }),
    await off({}, { root: '/' }),
    await off({ files: 10 }),
    await off({ bytes: 1000 }),
    await off({}, { root: join(project.place, 'gone') }),
  ])
  assert.ok('tree' in (await off({ files: 20, bytes: 2000 })), 'a limit is not met before it is passed')
})

test('a take that lasts too long is ended, and not tried again for a day', async (t) => {
  using project = new Project()
  const bin = join(project.place, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho x >> ${project.place}/started\nexec sleep 1000\n`, { mode: 0o755 })
  const env = { ...project.env, PATH: `${bin}:${project.env.PATH}` }
  const taking = project.snapshots({ ms: 5000 }, { env }).take()
  while (project.clock.asleep === 0) await new Promise((resolve) => setImmediate(resolve))
  await project.clock.turn(5000)
  golden(t, await taking)
  golden(t, await project.snapshots({ ms: 5000 }).take())
  await project.clock.turn(24 * 3_600_000)
  assert.ok('tree' in (await project.snapshots({ ms: 5000 }).take()))
})

test('a damaged index, a lock left behind and lost objects heal by themselves', async () => {
  using project = new Project()
  project.write('a', 'one')
  const tree = await treeOf(project.snapshots())
  writeFileSync(join(project.dir, 'index'), 'DIRC torn')
  assert.equal(await treeOf(project.snapshots()), tree)
  for (const lock of ['index.lock', 'HEAD.lock', 'config.lock']) writeFileSync(join(project.dir, lock), '')
  project.write('b', 'two')
  const both = await treeOf(project.snapshots())
  rmSync(join(project.dir, 'objects'), { recursive: true })
  const store = project.snapshots()
  assert.equal(await treeOf(store), both)
  assert.deepEqual(await heldBy(project, store, both), { a: 'file one', b: 'file two' })
})

test('the project itself is not touched, and nothing is made before the first take', async () => {
  using project = new Project()
  project.git('init', '-q')
  project.write('a', 'one')
  project.git('add', '-A')
  cpSync(project.root, join(project.place, 'copy'), { recursive: true, preserveTimestamps: true })
  const store = project.snapshots()
  assert.equal(existsSync(project.home), false)
  await treeOf(store)
  assert.deepEqual(project.tree(project.root, 'none'), project.tree(join(project.place, 'copy'), 'none'))
  assert.deepEqual(readFileSync(join(project.dir, 'HEAD'), 'utf8'), 'ref: refs/heads/none\n')
})
