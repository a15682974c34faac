import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gitFolders, projectRoot } from '../../src/base/git.ts'

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
