import { test } from 'node:test'
import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectGit } from '../../src/base/git/project-git.ts'
import { worktreesOf } from '../../src/worktrees/slot-worktrees.ts'
import { Project } from '../safety/project.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

function committed(): Project {
  const project = new Project()
  project.git('init', '-q')
  project.write('a.txt', 'one\n')
  project.git('add', '-A')
  project.git('commit', '-qm', 'first')
  return project
}

test('a program named git in the project is not the git that is started', async () => {
  using project = committed()
  const bin = join(project.root, 'node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'git'), `#!/bin/sh\ntouch ${project.place}/ran\n`, { mode: 0o755 })
  const git = projectGit({ ...project.env, PATH: `${bin}:.:${project.env.PATH}` })
  assert.equal(await git(project.root, 'ls-files'), 'a.txt')
  assert.equal(existsSync(join(project.place, 'ran')), false)
})

test('objects of another folder are not read, because a repository could name any', async () => {
  using project = committed()
  const objects = join(project.root, '.git/objects')
  writeFileSync(join(objects, 'info/alternates'), `${join(project.place, 'elsewhere')}\n`)
  project.git('clone', '-q', '--bare', '.', '../copy')
  const git = projectGit(project.env)
  assert.match(await git(project.root, 'rev-parse', 'HEAD:a.txt'), /^[0-9a-f]{40}$/)
  rmSync(objects, { recursive: true })
  mkdirSync(join(objects, 'info'), { recursive: true })
  writeFileSync(join(objects, 'info/alternates'), `${join(project.place, 'copy/objects')}\n`)
  assert.equal(project.git('show', 'HEAD:a.txt'), 'one\n')
  await assert.rejects(git(project.root, 'rev-parse', 'HEAD:a.txt'))
})

test('an empty list of other objects, which a sandbox leaves behind, hinders no new object', async () => {
  using project = committed()
  writeFileSync(join(project.root, '.git/objects/info/alternates'), '')
  const git = projectGit(project.env)
  project.write('new.txt', 'a text whose object needs a folder of its own\n')
  await git(project.root, 'add', 'new.txt')
  assert.equal(project.git('show', ':new.txt'), 'a text whose object needs a folder of its own\n')
})

test("in a trusted folder the person's own filters run in a new worktree, the repository's do not", async (t) => {
  using project = committed()
  project.write('.gitattributes', '*.own filter=own\n*.repo filter=repo\n')
  for (const name of ['a.own', 'a.repo']) project.write(name, 'stored\n')
  project.git('add', '-A')
  project.git('commit', '-qm', 'second')
  const filter = (name: string) => `[filter "${name}"]\n\tsmudge = sed s/stored/${name}/\n`
  writeFileSync(join(project.env.HOME, '.gitconfig'), filter('own'))
  appendFileSync(join(project.root, '.git/config'), filter('repo'))
  const make = async (trusted: boolean, name: string) => {
    const parts = { root: project.root, home: project.home, slug: 'p', env: project.env, trusted: async () => trusted }
    const worktrees = worktreesOf(parts)!
    const { cwd, notes } = await worktrees.make(worktrees.plan(name), project.root)
    return [...['a.own', 'a.repo'].map((file) => readFileSync(join(cwd, file), 'utf8')), ...notes.slice(1)]
  }
  golden(t, await make(true, 'trusted'))
  golden(t, await make(false, 'unknown'))
})
