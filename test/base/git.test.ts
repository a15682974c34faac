import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gitFolders, hasOwnGitFolders, projectRoot } from '../../src/base/files/git.ts'

test('the project is the nearest folder with .git, else the folder itself, as a real path', (t) => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-git-')))
  t.after(() => rmSync(place, { recursive: true }))
  for (const path of ['repo/.git', 'repo/a/b', 'repo/tree/c', 'plain/d'])
    mkdirSync(join(place, path), { recursive: true })
  writeFileSync(join(place, 'repo/tree/.git'), 'gitdir: ../.git/worktrees/tree\n')
  symlinkSync(join(place, 'repo/a'), join(place, 'link'))
  const found = ['repo', 'repo/a/b', 'repo/tree/c', 'plain/d', 'link/b'].map((path) => projectRoot(join(place, path)))
  assert.deepEqual(
    found,
    ['repo', 'repo', 'repo/tree', 'plain/d', 'repo'].map((path) => join(place, path)),
  )
})

test('a worktree points to its own folder and to the one it shares', (t) => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-git-')))
  t.after(() => rmSync(place, { recursive: true }))
  for (const path of ['repo/.git/worktrees/tree', 'tree', 'plain', 'broken'])
    mkdirSync(join(place, path), { recursive: true })
  writeFileSync(join(place, 'repo/.git/worktrees/tree/commondir'), '../..\n')
  writeFileSync(join(place, 'tree/.git'), `gitdir: ${place}/repo/.git/worktrees/tree\n`)
  symlinkSync('nowhere', join(place, 'broken/.git'))
  assert.deepEqual(
    ['repo', 'tree', 'plain', 'broken'].map((name) => gitFolders(join(place, name))),
    [
      { own: join(place, 'repo/.git'), common: join(place, 'repo/.git') },
      { own: join(place, 'repo/.git/worktrees/tree'), common: join(place, 'repo/.git') },
      undefined,
      undefined,
    ],
  )
})

test('git folders are a project’s own where they lie in it, or name it as their worktree or submodule, and nowhere else', (t) => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-git-')))
  t.after(() => rmSync(place, { recursive: true }))
  const env = { PATH: process.env.PATH, HOME: place, GIT_CONFIG_NOSYSTEM: '1' }
  const identity = ['-c', 'user.name=u', '-c', 'user.email=u@e', '-c', 'protocol.file.allow=always']
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', [...identity, ...args], { cwd: join(place, folder), env, stdio: 'ignore' })
  for (const name of ['repo', 'other', 'pointing', 'linked', 'sharing/.git', 'claiming', 'apart'])
    mkdirSync(join(place, name), { recursive: true })
  for (const name of ['repo', 'other']) {
    git(name, 'init', '-q')
    git(name, 'commit', '-q', '--allow-empty', '-m', 'one')
  }
  git('repo', 'worktree', 'add', '-q', '../tree')
  git('repo', 'submodule', 'add', '-q', join(place, 'other'), 'module')
  git('apart', 'init', '-q', '--separate-git-dir', join(place, 'elsewhere'))
  writeFileSync(join(place, 'pointing/.git'), `gitdir: ${place}/other/.git\n`)
  writeFileSync(join(place, 'claiming/.git'), `gitdir: ${place}/repo/.git/worktrees/tree\n`)
  symlinkSync(join(place, 'other/.git'), join(place, 'linked/.git'))
  writeFileSync(join(place, 'sharing/.git/commondir'), `${place}/other/.git\n`)
  const isOwn = (name: string) => hasOwnGitFolders(join(place, name), gitFolders(join(place, name))!)
  assert.deepEqual(
    ['repo', 'tree', 'repo/module', 'other'].map((name) => [name, isOwn(name)]),
    ['repo', 'tree', 'repo/module', 'other'].map((name) => [name, true]),
  )
  // A repository that was made with --separate-git-dir names nobody, and looks like one that a stranger points to.
  assert.deepEqual(
    ['pointing', 'claiming', 'linked', 'sharing', 'apart'].map((name) => [name, isOwn(name)]),
    ['pointing', 'claiming', 'linked', 'sharing', 'apart'].map((name) => [name, false]),
  )
})
