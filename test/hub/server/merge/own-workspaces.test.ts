import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { keysAt, rootOf, wantedWorkspace } from '../../../../src/hub/server/merge/own-workspaces.ts'
import { hasWorkspace } from '../../../../src/hub/model/tasks/workspace.ts'
import { cloneOf, folderFor, git, machineIo, repositoryAt } from '../../../machines-rig.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

const elsewhere = 'https://hub.example'
const here = 'http://localhost:3456'

test('a task of one clone is for agents in any other clone of the repository, and for no fork', async (t) => {
  const at = folderFor(t)
  const one = repositoryAt(join(at, 'anna', 'shop'), 'https://anna:secret@github.com/Acme/Shop.git')
  const two = cloneOf(one, join(at, 'build', 'checkout'), 'git@github.com:acme/shop.git')
  const fork = cloneOf(one, join(at, 'fork'), 'git@github.com:forked/shop.git')
  const shallow = cloneOf(one, join(at, 'shallow'), 'ssh://git@github.com/acme/shop', '--depth=1')
  const other = repositoryAt(join(at, 'other'), 'git@github.com:acme/shop.git')
  git(other, 'commit', '-q', '--amend', '-m', 'another history')
  git(shallow, 'config', 'core.repositoryformatversion', '0')
  writeFileSync(join(shallow, '.git', 'shallow'), `${git(shallow, 'rev-parse', 'HEAD')}\n`)
  const person = machineIo(join(at, 'home-1'), one)
  const { workspace, origin } = await wantedWorkspace(person, undefined, elsewhere)
  const first = git(one, 'rev-parse', 'HEAD')
  assert.equal(workspace, `git:github.com/acme/shop#${first.slice(0, 12)}`)
  assert.deepEqual(origin, {
    machine: hostname(),
    path: one,
    remote: 'https://github.com/Acme/Shop.git',
    branch: 'main',
    commit: first,
  })
  const machine = machineIo(join(at, 'home-2'), two)
  const has = async (root: string) => hasWorkspace((await keysAt(machine, root, elsewhere)).workspaces, workspace)
  assert.deepEqual(await Promise.all([two, fork, shallow, other].map(has)), [true, false, true, false])
  const fromShallow = await wantedWorkspace(machineIo(join(at, 'home-1'), shallow), undefined, elsewhere)
  assert.ok(hasWorkspace((await keysAt(machine, two, elsewhere)).workspaces, fromShallow.workspace))
  const typed = await wantedWorkspace(person, 'https://github.com/acme/shop', elsewhere)
  assert.ok(hasWorkspace((await keysAt(machine, two, elsewhere)).workspaces, typed.workspace))
  // A machine finds its own clone again, by what its agents and tasks were started in, and checks that it is still the same.
  assert.equal(await rootOf(machine, workspace), two)
  git(two, 'remote', 'set-url', 'origin', 'https://example.com/elsewhere')
  assert.equal(await rootOf(machine, workspace), shallow)
  assert.equal(await rootOf(machineIo(join(at, 'home-3'), at), workspace), undefined)
})

test('short names for hosts in the person’s own settings are written out, and those of a repository are not asked', async (t) => {
  const at = folderFor(t)
  const root = repositoryAt(join(at, 'shop'), 'gh:acme/shop')
  git(root, 'config', 'url.https://evil.example/.insteadOf', 'gh:')
  const io = machineIo(join(at, 'home'), root)
  writeFileSync(join(at, 'home', '.gitconfig'), '[url "git@github.com:"]\n\tinsteadOf = gh:\n')
  assert.match((await wantedWorkspace(io, undefined, elsewhere)).workspace, /^git:github\.com\/acme\/shop#/)
})

test('a folder without a remote is known by its path, and at a hub elsewhere also by its machine', async (t) => {
  const at = folderFor(t)
  const plain = join(at, 'plain')
  mkdirSync(plain)
  const local = repositoryAt(join(at, 'local'))
  const copy = cloneOf(local, join(at, 'copy'), local)
  const io = machineIo(join(at, 'home'), plain)
  for (const root of [plain, local, copy]) {
    const named = async (hub: string) => (await wantedWorkspace({ ...io, cwd: root }, undefined, hub)).workspace
    assert.deepEqual([await named(here), await named(elsewhere)], [root, `at:${hostname()}:${root}`])
    assert.deepEqual(await keysAt(io, root, here), { workspace: root, workspaces: [root, `at:${hostname()}:${root}`] })
    assert.deepEqual(await keysAt(io, root, elsewhere), {
      workspace: `at:${hostname()}:${root}`,
      workspaces: [`at:${hostname()}:${root}`],
    })
  }
  await golden.rejects(t, wantedWorkspace(io, 'no-such-folder', here), { [at]: '<at>' })
  assert.equal((await wantedWorkspace(io, '/only/there', here)).workspace, '/only/there')
})
