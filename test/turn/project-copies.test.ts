import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownerMark } from '../../src/base/process/owner.ts'
import { take } from '../../src/core/work/verbs.ts'
import { noCopies, openProjectCopies } from '../../src/turn/copies/project-copies.ts'
import { openTaskCopies } from '../../src/think/turn/task-copies.ts'
import { leftWorktrees, newWorktree, removeWorktree, sweepWorktrees } from '../../src/worktrees/copy-worktrees.ts'
import { turnOf } from '../contract/agent.ts'
import { drained } from '../core/made.ts'
import { alive, killLabelled, labelled, turning } from '../base/alive.ts'
import { plain, seated } from '../app/seat.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const signal = new AbortController().signal
const kept = { keeps: true }

/** A repository whose tree differs from its commit in every way, at a desk with one command as its agent. */
async function desk(t: TestContext, { settings = {}, env = {}, commit = true } = {}) {
  const seat = await seated(t, plain({ own: 'cat >/dev/null; pwd' }, { leash: 'edit', ...settings }), env)
  const { project } = seat
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@e', ...args], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: seat.folder },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  const write = (path: string, text: string) => {
    mkdirSync(join(project, path, '..'), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  git('init', '-q', '-b', 'main')
  write('.gitignore', 'node_modules/\n')
  write('src/a.txt', 'one\n')
  git('add', '-A')
  if (commit) {
    git('commit', '-qm', 'one')
    write('src/a.txt', 'stashed\n')
    git('stash', '-q')
  }
  write('src/a.txt', 'one\nnot committed\n')
  write('staged.txt', 'staged\n')
  git('add', 'staged.txt')
  write('new.txt', 'untracked\n')
  write('node_modules/dep.js', 'ignored\n')
  write('.git/hooks/post-checkout', `#!/bin/sh\ntouch ${seat.folder}/hooked\n`)
  execFileSync('chmod', ['+x', join(project, '.git/hooks/post-checkout')])
  await seat.open()
  /** All that is the person's own. */
  const state = () => ({
    index: readFileSync(join(project, '.git/index'), 'base64'),
    config: readFileSync(join(project, '.git/config'), 'utf8'),
    refs: commit ? git('for-each-ref') + git('stash', 'list') + git('reflog') : '',
    head: readFileSync(join(project, '.git/HEAD'), 'utf8'),
    worktrees: git('worktree', 'list').split('\n').length - 1,
    inGit: readdirSync(join(project, '.git')).sort(),
    objects: git('count-objects'),
    hooked: existsSync(join(seat.folder, 'hooked')),
    ours: existsSync(join(seat.home, 'worktrees')),
    drafts: namesIn(join(seat.home, 'projects', seat.app.project.slug, 'snapshots/work')),
  })
  return { seat, project, git, write, state, apart: openProjectCopies(seat.app, kept)! }
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

test('a room is a worktree with the files as they are now, and goes without a trace in the repository', async (t) => {
  const { seat, project, state, apart } = await desk(t)
  const before = state()
  const room = await apart.open(signal)
  assert.equal(room.cwd.startsWith(join(seat.home, 'worktrees', seat.app.project.slug, 'apart-')), true)
  const files = (folder: string) => readdirSync(folder).sort()
  assert.deepEqual(
    files(room.cwd),
    files(project).filter((name) => name !== 'node_modules'),
  )
  assert.equal(readFileSync(join(room.cwd, 'src/a.txt'), 'utf8'), 'one\nnot committed\n')
  assert.equal(
    execFileSync('git', ['status', '--porcelain'], { cwd: room.cwd, encoding: 'utf8' }),
    ' M src/a.txt\n?? new.txt\n?? staged.txt\n',
    'git tells there what is not committed, as it does in the project',
  )
  golden(t, room.lacks)
  writeFileSync(join(room.cwd, 'src/b.txt'), 'made\n')
  assert.deepEqual(await room.join(), { files: ['src/b.txt'] })
  await room.drop()
  assert.equal(readFileSync(join(project, 'src/b.txt'), 'utf8'), 'made\n')
  rmSync(join(project, 'src/b.txt'))
  assert.deepEqual(state(), before)
  assert.equal(before.hooked, false)
})

test('an agent in a copy has the same working folder as in the project', async (t) => {
  const { seat } = await desk(t)
  const app = { ...seat.app, place: { ...seat.app.place, cwd: join(seat.project, 'src') } }
  const room = await openProjectCopies(app, kept)!.open(signal)
  assert.equal(room.cwd.endsWith('/src'), true)
  await room.drop()
})

test('the agent that the person asked for works in the copy', async (t) => {
  const { seat } = await desk(t)
  seat.configure(plain({ own: 'cat >/dev/null; echo own', other: 'cat >/dev/null; pwd' }, { leash: 'edit' }))
  await seat.open()
  const room = await openTaskCopies(seat.app, 'other')!.open(signal)
  const turn = turnOf({ clock: seat.clock, cwd: room.cwd, leash: 'edit', prompt: 'where are you?' })
  const { events, result } = await drained(take(room.actor, turn))
  assert.deepEqual(result, { ok: true, text: room.cwd })
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'reply' ? [event.by] : [])),
    ['other'],
  )
  await room.drop()
})

test('two copies that changed the same file cannot both be brought back, also when both try at once', async (t) => {
  const { project, state, apart } = await desk(t)
  const before = state()
  const rooms = await Promise.all([apart.open(signal), apart.open(signal)])
  for (const [i, { cwd }] of rooms.entries()) {
    writeFileSync(join(cwd, 'src/a.txt'), `room ${i}\n`)
    writeFileSync(join(cwd, `only-${i}.txt`), '')
  }
  const joined = await Promise.all(rooms.map((room) => room.join()))
  golden(t, joined)
  assert.deepEqual(
    [readFileSync(join(project, 'src/a.txt'), 'utf8'), existsSync(join(project, 'only-1.txt'))],
    ['room 0\n', false],
  )
  await Promise.all(rooms.map((room) => room.drop()))
  assert.deepEqual(state(), before)
})

test('without a repository, without a commit or where nothing is to be kept there is no room', async (t) => {
  const bare = await seated(t, plain({ own: 'cat' }))
  assert.equal(openProjectCopies(bare.app, kept), undefined)
  const { seat, apart, state } = await desk(t, { commit: false })
  const before = state()
  assert.equal(openProjectCopies({ ...seat.app, ephemeral: true }, kept), undefined)
  await golden.rejects(t, apart.open(signal))
  golden(t, [await noCopies(bare.app), await noCopies(seat.app), await noCopies({ ...seat.app, ephemeral: true })])
  assert.deepEqual(state(), before)
})

test('a room is made ready as a worktree of a crew is; where that fails there is none, and nothing stays', async (t) => {
  const ready = await desk(t, { settings: { crew: { setup: 'mkdir node_modules && echo dep > node_modules/dep.js' } } })
  const room = await ready.apart.open(signal)
  assert.equal(readFileSync(join(room.cwd, 'node_modules/dep.js'), 'utf8'), 'dep\n')
  assert.match(room.lacks, /; set up with: mkdir node_modules && echo dep > node_modules\/dep\.js\.$/)
  assert.deepEqual(await room.join(), { files: [] })
  await room.drop()
  const touching = await desk(t, { settings: { crew: { setup: 'echo locked > lock.txt; echo 2 >> src/a.txt' } } })
  const touched = await touching.apart.open(signal)
  assert.deepEqual((await touched.changed()).paths, [], 'what the setup changes is no work')
  writeFileSync(join(touched.cwd, 'src/b.txt'), 'made\n')
  assert.deepEqual(await touched.join(), { files: ['src/b.txt'] })
  await touched.drop()
  const broken = await desk(t, { settings: { crew: { setup: 'echo no such package >&2; exit 3' } } })
  const before = broken.state()
  await assert.rejects(broken.apart.open(signal), {
    message: /crew\.setup failed .*: no such package$/,
  })
  assert.deepEqual(broken.state(), before)
})

test('a cancel ends the setup of a copy with all its processes, and removes the copy', async (t) => {
  const { label } = labelled()
  const setup = '(sleep 1000 & sleep 1000); echo'
  t.after(() => killLabelled(label))
  const { seat, apart, state } = await desk(t, { settings: { crew: { setup } }, env: { TEST_LABEL: label } })
  const before = state()
  const stop = new AbortController()
  const opening = assert.rejects(apart.open(stop.signal), { message: /crew\.setup failed/ })
  await until(async () => (await alive(label)).filter((command) => command === 'sleep 1000').length === 2)
  stop.abort()
  const then = seat.clock.now()
  await turning(seat.clock, opening)
  assert.ok(seat.clock.now() - then < 600_000, 'its own limit did not have to end it')
  assert.deepEqual([await alive(label), state()], [[], before])
})

test('copies that a dead process left are swept at the next start; those that a living process works in stay', async (t) => {
  const { seat, project, state } = await desk(t)
  const before = state()
  const now = seat.clock.now()
  const parts = { ...seat.app.place, slug: seat.app.project.slug, env: seat.io.env }
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' })
  const [mine, left] = [await newWorktree(parts), await newWorktree(parts)]
  const admin = (path: string) => join(project, '.git/worktrees', path.split('/').at(-1)!)
  // As another process would have locked it.
  const [place, boot] = ownerMark().split(',')
  writeFileSync(join(admin(left), 'locked'), `termaite ${[place, boot, child.pid, 'another start'].join(',')}\n`)
  child.kill('SIGKILL')
  await once(child, 'exit')
  rmSync(left, { recursive: true })
  assert.deepEqual(leftWorktrees(project, now), [{ path: left, unseen: false }], 'also when its folder is gone already')
  await sweepWorktrees({ root: project, env: seat.io.env }, now)
  assert.deepEqual([existsSync(admin(left)), existsSync(mine), leftWorktrees(project, now)], [false, true, []])
  await removeWorktree(parts, mine)
  assert.deepEqual(state(), before)
})

test('a copy that is kept is swept after a day; one whose process died with work in it is kept for a day from then on', async (t) => {
  const { seat, project, state, apart } = await desk(t)
  const before = state()
  const sweep = (now: number) => sweepWorktrees({ root: project, env: seat.io.env }, now)
  const day = 24 * 60 * 60_000
  const now = seat.clock.now()
  const [kept, lost] = [await apart.open(signal), await apart.open(signal)]
  await kept.keep()
  const admin = join(project, '.git/worktrees', lost.root.split('/').at(-1)!)
  const [place, boot] = ownerMark().split(',')
  writeFileSync(join(admin, 'locked'), `termaite work ${[place, boot, 1, 'another start'].join(',')}\n`)
  const there = () => [kept, lost].map(({ root }) => existsSync(root))
  await sweep(now + 3_600_000)
  assert.deepEqual(there(), [true, true])
  await sweep(now + day)
  assert.deepEqual(there(), [false, true])
  await sweep(now + 3_600_000 + day)
  assert.deepEqual(there(), [false, false])
  await lost.drop()
  assert.deepEqual(state(), before)
})

test('installed dependencies that git ignores are copied on request, and changing them leaves the project’s own alone', async (t) => {
  const { seat, project, write } = await desk(t)
  write('packages/a/node_modules/inner.js', 'inner\n')
  write('node_modules/.bin/tool', 'tool\n')
  const copies = openProjectCopies(seat.app, { keeps: false, installed: true })!
  const copy = await copies.open(signal)
  const read = (path: string) => readFileSync(join(copy.root, path), 'utf8')
  assert.deepEqual(
    [read('node_modules/dep.js'), read('node_modules/.bin/tool'), read('packages/a/node_modules/inner.js')],
    ['ignored\n', 'tool\n', 'inner\n'],
  )
  golden(t, copy.lacks)
  writeFileSync(join(copy.root, 'node_modules/dep.js'), 'changed\n')
  assert.deepEqual(
    [(await copy.changed()).paths, readFileSync(join(project, 'node_modules/dep.js'), 'utf8')],
    [[], 'ignored\n'],
  )
  await copy.drop()
  assert.equal(existsSync(copy.root), false)
})

test('a copy in which the link to the repository was deleted, changed or made a repository goes without a trace', async (t) => {
  const { seat, project, git, state, apart } = await desk(t)
  const before = state()
  const other = join(seat.folder, 'other')
  mkdirSync(other)
  git('init', '-q', other)
  for (const harm of [
    (link: string) => rmSync(link),
    (link: string) => writeFileSync(link, `gitdir: ${other}/.git\n`),
    (link: string) => {
      rmSync(link)
      git('init', '-q', join(link, '..'))
    },
  ]) {
    const copy = await apart.open(signal)
    writeFileSync(join(copy.root, 'made.txt'), 'made\n')
    writeFileSync(join(copy.root, 'src/a.txt'), 'one\n')
    harm(join(copy.root, '.git'))
    const changes = await copy.changed()
    assert.deepEqual([changes.paths, changes.reverted], [['made.txt', 'src/a.txt'], ['src/a.txt']])
    assert.deepEqual(await copy.join({ changes, only: ['made.txt'] }), { files: ['made.txt'] })
    await copy.drop()
    assert.deepEqual([existsSync(copy.root), readFileSync(join(project, 'made.txt'), 'utf8')], [false, 'made\n'])
    rmSync(join(project, 'made.txt'))
    assert.deepEqual(state(), before)
  }
  const gone = await apart.open(signal)
  rmSync(gone.root, { recursive: true })
  await assert.rejects(gone.changed())
  await gone.drop()
  assert.deepEqual(state(), before)
})
