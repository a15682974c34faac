import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { collect } from '../../src/base/process/collect.ts'
import { absolutePath, findOutside, bypassFolderProgram, unshadowedArgv } from '../../src/base/process/program-path.ts'

/** A project with programs in its folders, and a machine with two of its own. */
function shadows(t: TestContext) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-path-')))
  t.after(() => rmSync(base, { recursive: true }))
  const at = (path: string) => join(base, path)
  const put = (path: string) => {
    mkdirSync(at(join(path, '..')), { recursive: true })
    writeFileSync(at(path), `#!/bin/sh\necho ${path}\n`, { mode: 0o755 })
  }
  for (const path of [
    'bin/claude',
    'bin/bash-like',
    'project/node_modules/.bin/claude',
    'project/node_modules/.bin/gemini',
  ])
    put(path)
  for (const path of ['project/claude', 'project/bash-like']) put(path)
  mkdirSync(at('project/.git'))
  mkdirSync(at('project/sub'))
  mkdirSync(at('home'))
  symlinkSync(at('project/node_modules/.bin'), at('linked'))
  const env = (...folders: string[]) => ({
    PATH: folders.map((one) => (one === '' || one.startsWith('.') ? one : at(one))).join(delimiter),
    HOME: at('home'),
  })
  return { at, env }
}

test('a program is never found in a relative folder or inside the project, also not through a link', (t) => {
  const { at, env } = shadows(t)
  const cwd = at('project/sub')
  const path = env('', '.', './node_modules/.bin', '..', 'project/node_modules/.bin', 'linked', 'bin')
  assert.deepEqual(
    ['claude', 'gemini', 'bash-like'].map((word) => findOutside(word, path, cwd)),
    [at('bin/claude'), undefined, at('bin/bash-like')],
  )
  assert.equal(absolutePath(path.PATH), [at('project/node_modules/.bin'), at('linked'), at('bin')].join(delimiter))
})

test('a program is found in no tree of the repository: main checkout, worktrees, repositories around it', async (t) => {
  const { at, env } = shadows(t)
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: at(cwd), stdio: 'ignore' })
  rmSync(at('project/.git'), { recursive: true })
  git('project', 'init', '-q')
  git('project', 'commit', '-q', '--allow-empty', '-m', 'x')
  for (const name of ['one', 'two']) git('project', 'worktree', 'add', '-q', at(name))
  git('project/sub', 'init', '-q')
  const put = (path: string) => {
    mkdirSync(at(join(path, '..')), { recursive: true })
    writeFileSync(at(path), '#!/bin/sh\n', { mode: 0o755 })
  }
  for (const path of ['one/bin/claude', 'two/bin/claude', 'project/sub/bin/claude']) put(path)
  const path = env('one/bin', 'two/bin', 'project/sub/bin', 'project/node_modules/.bin', 'bin')
  for (const cwd of ['project', 'one', 'two', 'one/bin', 'project/sub'])
    assert.deepEqual([cwd, findOutside('claude', path, at(cwd))], [cwd, at('bin/claude')])

  // A link outside that leads into a tree is replaced by those who write there.
  mkdirSync(at('links'))
  symlinkSync(at('two/bin/claude'), at('links/claude'))
  assert.equal(findOutside('claude', env('links', 'bin'), at('one')), at('bin/claude'))

  // A repository cannot hide the machine's own programs by naming their folder as one of its worktrees.
  mkdirSync(at('project/.git/worktrees/evil'), { recursive: true })
  writeFileSync(at('project/.git/worktrees/evil/gitdir'), `${at('bin')}/.git\n`)
  assert.equal(findOutside('claude', env('bin'), at('project')), at('bin/claude'))
})

test('when the home is the project, its programs are the person’s own', (t) => {
  const { at, env } = shadows(t)
  assert.equal(
    findOutside('gemini', { ...env('project/node_modules/.bin'), HOME: at('project') }, at('project')),
    at('project/node_modules/.bin/gemini'),
  )
})

test('a command line starts the program outside where the project would choose another, and stays as it is elsewhere', (t) => {
  const { at, env } = shadows(t)
  const [cwd, path] = [at('project'), env('project/node_modules/.bin', 'bin')]
  assert.deepEqual(
    ['claude -p "x y"', ' gemini', './claude -p', 'X=1 claude', 'other'].map((line) =>
      bypassFolderProgram(line, path, cwd),
    ),
    [`'${at('bin/claude')}' -p "x y"`, ` '/nonexistent/gemini'`, './claude -p', 'X=1 claude', 'other'],
  )
  assert.equal(bypassFolderProgram('claude -p', env('bin', 'project/node_modules/.bin'), cwd), 'claude -p')
  assert.deepEqual(unshadowedArgv(['claude', '-p'], path, cwd), [at('bin/claude'), '-p'])
  assert.deepEqual(unshadowedArgv(['bash', '-c', 'gemini'], path, cwd), ['bash', '-c', `'/nonexistent/gemini'`])
})

test('programs that termaite runs itself are not taken from the project', async (t) => {
  const { at, env } = shadows(t)
  const ran = async (PATH: string) =>
    (await collect('bash-like', [], { cwd: at('project'), env: { PATH } })).out.toString()
  assert.equal(await ran(env('.', 'bin').PATH), 'bin/bash-like\n')
  assert.equal(await ran(env('project', 'bin').PATH), 'bin/bash-like\n')
})
