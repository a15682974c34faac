import { beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withQuietGit } from '../../src/base/git.ts'
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
  ] as const) {
    git(root, 'config', key, value)
    assert.equal(await classOf('git log -1'), 'unknown', key)
    git(root, 'config', '--unset', key)
  }
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

test('a program of the project that PATH finds first is not taken for the system’s', async () => {
  const bin = join(root, 'node_modules', '.bin')
  writeFileSync(join(bin, 'ls'), '#!/bin/sh\n', { mode: 0o755 })
  assert.equal(await classOf('ls', `${bin}:/usr/bin:/bin`), 'runs')
  assert.equal(await classOf('ls', `/usr/bin:/bin:${bin}`), 'reads')
  assert.equal(await classOf('ls', 'node_modules/.bin:/usr/bin:/bin'), 'runs')
  assert.equal(await classOf('cat README.md', `${bin}:/usr/bin:/bin`), 'reads')
  assert.equal(await classOf('/bin/ls', `${bin}:/usr/bin:/bin`), 'reads')
})
