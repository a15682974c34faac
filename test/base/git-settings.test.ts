import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { projectGit } from '../../src/base/git/project-git.ts'
import { Project } from '../safety/project.ts'

/** A repository, and a git that notes the first words of each of its calls. */
function watched(project: Project) {
  project.git('init', '-q')
  const bin = join(project.place, 'bin')
  const calls = join(project.place, 'calls')
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$1" >>'${calls}'\nexec '${real}' "$@"\n`, { mode: 0o755 })
  const git = projectGit({ ...project.env, PATH: [bin, project.env.PATH].join(delimiter) })
  /** The names of a commit's author as git is told them, and the commands that were started for it. */
  const author = async (at = project.root) => {
    writeFileSync(calls, '')
    const name = await git(at, 'config', 'user.name').catch(() => undefined)
    return { name, started: readFileSync(calls, 'utf8').trim().split('\n') }
  }
  const person = (text: string) => writeFileSync(join(project.env.HOME, '.gitconfig'), text)
  return { author, person }
}

const anew = ['config', 'config', 'config']
const known = ['config']
const named = (name: string) => `[user]\n\tname = ${name}\n`

test('the settings of the person and the repository are read once, and again when one of their files changed', async () => {
  using project = new Project()
  const { author, person } = watched(project)
  person(named('one'))
  assert.deepEqual(await author(), { name: 'one', started: anew })
  assert.deepEqual(await author(), { name: 'one', started: known })
  // The same length: only the time of the change tells them apart.
  person(named('two'))
  assert.deepEqual(await author(), { name: 'two', started: ['config', 'config'] })
  project.git('config', 'user.name', 'ours')
  assert.deepEqual(await author(), { name: 'ours', started: ['config', 'config'] })
  assert.deepEqual(await author(), { name: 'ours', started: known })
  project.git('config', '--unset', 'user.name')
  rmSync(join(project.env.HOME, '.gitconfig'))
  assert.deepEqual(await author(), { name: undefined, started: anew })
  const elsewhere = join(project.env.HOME, '.config', 'git')
  mkdirSync(elsewhere, { recursive: true })
  writeFileSync(join(elsewhere, 'config'), named('three'))
  assert.deepEqual(await author(), { name: 'three', started: ['config', 'config'] })
})

test('another repository has its own settings, and a file that is put in the place of another is a change', async () => {
  using project = new Project()
  const { author } = watched(project)
  project.git('config', 'user.name', 'outer')
  project.git('init', '-q', 'inner')
  const inner = join(project.root, 'inner')
  const file = join(inner, '.git', 'config')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text + named('inner'))
  assert.equal((await author()).name, 'outer')
  assert.equal((await author(inner)).name, 'inner')
  writeFileSync(`${file}.new`, text + named('again'))
  renameSync(`${file}.new`, file)
  assert.deepEqual([(await author()).name, (await author(inner)).name], ['outer', 'again'])
})

test('settings that include other files are read each time, because those may change or begin to count', async () => {
  using project = new Project()
  const { author, person } = watched(project)
  const more = join(project.env.HOME, 'more')
  const included = `[include]\n\tpath = ${more}\n`
  person(named('one') + included)
  assert.deepEqual(await author(), { name: 'one', started: anew })
  writeFileSync(more, named('two'))
  assert.deepEqual(await author(), { name: 'two', started: ['config', 'config'] })
  person(`[includeIf "onbranch:next"]\n\tpath = ${more}\n`)
  assert.equal((await author()).name, undefined)
  project.git('symbolic-ref', 'HEAD', 'refs/heads/next')
  assert.equal((await author()).name, 'two')
})
