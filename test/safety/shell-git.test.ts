import { beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutFoundBare, withQuietGit } from '../../src/base/git.ts'
import { judge } from '../../src/safety/shell/shell-judge.ts'
import { oddSetting } from '../../src/safety/shell/git-settings.ts'
import { layProject } from './shell/project.ts'

const project = layProject()
const { root, home } = project
const trap = join(project.away, 'TRIPPED')
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd, stdio: 'pipe' })

rmSync(join(root, '.git'), { recursive: true })
git(root, 'init', '-q')
git(root, 'add', '-A')
git(root, 'commit', '-qm', 'one')
beforeEach(() => rmSync(trap, { force: true }))

const classOf = async (command: string, path?: string) =>
  (await judge(command, { root, home, cwd: root, ...(path === undefined ? {} : { path }) })).worst.class

const looks = [
  'git status',
  'git diff',
  'git diff HEAD',
  'git log -p -1',
  'git show',
  'git grep x',
  'git ls-files -m',
  'git stash list',
  'git blame README.md',
]

test('git reads in a repository whose settings name no program, and nowhere else', async () => {
  for (const command of looks) assert.equal(await classOf(command), 'reads', command)
  for (const [key, value] of [
    ['diff.external', './evil'],
    ['diff.x.textconv', './evil'],
    ['diff.x.command', './evil'],
    ['filter.x.clean', './evil'],
    ['core.pager', './evil'],
    ['include.path', 'evil'],
    ['gpg.program', './evil'],
    ['log.showSignature', 'true'],
    ['remote.x.promisor', 'true'],
    ['extensions.partialClone', 'x'],
    ['core.worktree', '/'],
    ['core.sshCommand', './evil'],
    ['uploadpack.packObjectsHook', './evil'],
    ['includeIf.gitdir:/.path', 'evil'],
    ['core.askPass', './evil'],
    ['core.attributesFile', 'evil'],
    ['filter.x.smudge', './evil'],
    ['filter.x.process', './evil'],
    ['merge.x.driver', './evil'],
    ['diff.submodule', 'log'],
    ['submodule.x.update', '!./evil'],
    ['pager.log', './evil'],
    ['trailer.x.cmd', './evil'],
    ['alias.whatchanged', '!./evil'],
    ['alias.LOG', '!./evil'],
    ['alias.log.command', '!./evil'],
    ['alias.x.command', '!./evil'],
    ['lfs.extension.x.clean', './evil'],
    ['gc.recentObjectsHook', './evil'],
  ] as const) {
    git(root, 'config', key, value)
    assert.equal(await classOf('git log -1'), 'unknown', key)
    git(root, 'config', '--unset', key)
  }
  // These are switched off by the environment, or not used by a command that only reads.
  for (const key of ['core.fsmonitor', 'core.hooksPath', 'credential.helper', 'alias.st', 'core.editor'])
    assert.equal(oddSetting(`[${key.replace('.', ']\n\t')} = ./evil\n`), undefined, key)
  assert.equal(oddSetting('[core] fsmonitor = x'), '[core] fsmonitor = x')
  assert.equal(oddSetting('[core]\n\tbare = \\\nfalse\n'), 'bare = \\')
  mkdirSync(join(root, 'bare', 'objects'), { recursive: true })
  mkdirSync(join(root, 'bare', 'refs'))
  writeFileSync(join(root, 'bare', 'HEAD'), 'ref: refs/heads/main\n')
  assert.equal(await classOf('git -C bare log'), 'unknown')
  assert.equal(await classOf('cd bare && git log'), 'unknown')
  writeFileSync(join(root, '.gitmodules'), '')
  assert.equal(await classOf('git status'), 'unknown')
  rmSync(join(root, '.gitmodules'))
  rmSync(join(root, 'bare'), { recursive: true })
})

test('looking runs no hook and no program of a repository that lies inside, in the environment of the agent', async () => {
  const inner = join(root, 'inner')
  mkdirSync(inner)
  git(inner, 'init', '-q')
  writeFileSync(join(inner, '.gitattributes'), '* filter=evil\n')
  writeFileSync(join(inner, 'b'), 'b\n')
  git(inner, 'add', '-A')
  git(inner, 'commit', '-qm', 'b')
  git(inner, 'config', 'filter.evil.clean', `touch ${trap}; cat`)
  git(inner, 'config', 'core.fsmonitor', `touch ${trap}; false`)
  git(root, '-c', 'advice.addEmbeddedRepo=false', 'add', 'inner')
  git(root, 'commit', '-qm', 'inner')
  const hook = join(root, '.git', 'hooks', 'post-index-change')
  writeFileSync(hook, `#!/bin/sh\ntouch ${trap}\n`)
  chmodSync(hook, 0o755)
  const env = withQuietGit({ PATH: process.env.PATH, HOME: home }, root)
  for (const command of looks) {
    writeFileSync(join(inner, 'b'), `${Math.random()}\n`)
    writeFileSync(join(root, 'README.md'), 'x\n')
    assert.equal(await classOf(command), 'reads', command)
    spawnSync('bash', ['-c', command], { cwd: root, env })
    assert.equal(existsSync(trap), false, command)
  }
  // Without that environment the trap is sprung, so the test would see it.
  spawnSync('git', ['status'], { cwd: root, env: { PATH: process.env.PATH, HOME: home } })
  assert.equal(existsSync(trap), true)
})

/**
 * Folders among the files of a project that git takes for repositories, each made from a git folder `whole` whose settings run a
 * program when a commit is shown, and the folder in which git is asked.
 */
const disguised: Readonly<Record<string, (at: string, whole: string) => string>> = {
  'a bare repository': (at, whole) => {
    cpSync(whole, at, { recursive: true })
    return at
  },
  'a HEAD beside a commondir, with everything else elsewhere': (at, whole) => {
    mkdirSync(join(at, 'api'), { recursive: true })
    cpSync(whole, join(at, 'x'), { recursive: true })
    cpSync(join(whole, 'HEAD'), join(at, 'api', 'HEAD'))
    rmSync(join(at, 'x', 'HEAD'))
    writeFileSync(join(at, 'api', 'commondir'), '../x\n')
    return join(at, 'api')
  },
  'a HEAD that is a link to a branch and leads nowhere': (at, whole) => {
    cpSync(whole, at, { recursive: true })
    git(at, 'pack-refs', '--all')
    rmSync(join(at, 'HEAD'))
    symlinkSync('refs/heads/main', join(at, 'HEAD'))
    return at
  },
  'a folder below a bare repository': (at, whole) => {
    cpSync(whole, at, { recursive: true })
    mkdirSync(join(at, 'deep', 'er'), { recursive: true })
    return join(at, 'deep', 'er')
  },
  'a bare repository around an empty .git, which git passes over': (at, whole) => {
    cpSync(whole, at, { recursive: true })
    mkdirSync(join(at, '.git'))
    return at
  },
  'a bare repository above a .git without objects': (at, whole) => {
    cpSync(whole, at, { recursive: true })
    mkdirSync(join(at, 'in', '.git', 'refs'), { recursive: true })
    writeFileSync(join(at, 'in', '.git', 'HEAD'), 'ref: refs/heads/main\n')
    return join(at, 'in')
  },
  'a file .git whose path ends in a blank': (at, whole) => {
    mkdirSync(at)
    git(at, 'init', '-q', '--bare', 'g')
    cpSync(whole, join(at, 'g '), { recursive: true })
    writeFileSync(join(at, '.git'), 'gitdir: g \n')
    return at
  },
  'a commondir whose path ends in a blank': (at, whole) => {
    mkdirSync(join(at, '.git'), { recursive: true })
    git(at, 'init', '-q', '--bare', 'g')
    cpSync(whole, join(at, 'g '), { recursive: true })
    cpSync(join(whole, 'HEAD'), join(at, '.git', 'HEAD'))
    writeFileSync(join(at, '.git', 'commondir'), '../g \n')
    return at
  },
}

for (const [what, disguise] of Object.entries(disguised))
  test(`no repository that hides among the files of a project is read unasked: ${what}`, async (t) => {
    const [source, whole, at] = ['source', 'whole', 'hidden'].map((name) => join(project.away, name)) as [
      string,
      string,
      string,
    ]
    const place = join(root, 'docs')
    t.after(() => [source, whole, at, place].forEach((path) => rmSync(path, { recursive: true, force: true })))
    mkdirSync(source)
    git(source, 'init', '-q', '-b', 'main')
    writeFileSync(join(source, 'a'), 'a\n')
    git(source, 'add', '-A')
    git(source, 'commit', '-qm', 'one')
    git(source, 'config', 'core.bare', 'true')
    cpSync(join(source, '.git'), whole, { recursive: true })
    mkdirSync(join(whole, 'info'), { recursive: true })
    writeFileSync(join(whole, 'info', 'attributes'), '* diff=e\n')
    git(whole, '--git-dir=.', 'config', 'diff.e.textconv', `touch ${trap}; cat`)
    const folder = disguise(place, whole)
    assert.equal(await classOf(`git -C '${folder}' show`), 'unknown')
    assert.equal(await classOf(`cd '${folder}' && git log -p`), 'unknown')
    spawnSync('git', ['-C', folder, 'show'], { env: { PATH: process.env.PATH, HOME: home } })
    assert.equal(existsSync(trap), true, 'git itself takes it for a repository')
  })

test('a file that makes a repository of a folder, or lies in one of any name, is not changed like another file', async (t) => {
  t.after(() => rmSync(join(root, 'docs'), { recursive: true, force: true }))
  mkdirSync(join(root, 'docs', 'bare', 'refs'), { recursive: true })
  assert.equal(await classOf('touch docs/bare/config'), 'edits')
  assert.equal(await classOf('touch docs/HEAD'), 'system')
  writeFileSync(join(root, 'docs', 'bare', 'HEAD'), 'ref: refs/heads/main\n')
  for (const name of ['config', 'commondir', 'hooks/pre-commit', 'objects/x'])
    assert.equal(await classOf(`touch docs/bare/${name}`), 'system', name)
  assert.equal(await classOf('touch docs/config'), 'edits')
})

test('in the environment of a command that reads, git uses no bare repository that it finds', () => {
  const [bare, tree, sub] = ['bare.git', 'tree', 'sub'].map((name) => join(project.away, name)) as [
    string,
    string,
    string,
  ]
  git(project.away, 'clone', '-q', '--bare', root, bare)
  git(root, 'worktree', 'add', '-q', '--detach', tree)
  git(project.away, 'clone', '-q', '--separate-git-dir', join(project.away, 'sub.git'), root, sub)
  const env = withoutFoundBare(withQuietGit({ PATH: process.env.PATH, HOME: home }, root))
  const code = (cwd: string, ...args: string[]) => spawnSync('git', args, { cwd, env }).status
  assert.deepEqual(
    [root, join(root, 'src'), tree, sub].map((cwd) => code(cwd, 'log', '-1')),
    [0, 0, 0, 0],
  )
  assert.deepEqual([code(bare, 'log', '-1'), code(root, `--git-dir=${bare}`, 'log', '-1')], [128, 0])
  git(root, 'worktree', 'remove', '--force', tree)
})

test('a program of the project that PATH finds first is not taken for the system’s', async () => {
  const bin = join(root, 'node_modules', '.bin')
  writeFileSync(join(bin, 'ls'), '#!/bin/sh\n', { mode: 0o755 })
  assert.equal(await classOf('ls', `${bin}:/usr/bin:/bin`), 'runs')
  assert.equal(await classOf('ls', `/usr/bin:/bin:${bin}`), 'reads')
  assert.equal(await classOf('ls', 'node_modules/.bin:/usr/bin:/bin'), 'runs')
  assert.equal(await classOf('cat README.md', `${bin}:/usr/bin:/bin`), 'reads')
  assert.equal(await classOf('/bin/ls', `${bin}:/usr/bin:/bin`), 'reads')
})
