import type { TestContext } from 'node:test'
import type { WallUser } from './behind-wall.ts'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { give, groundsOf } from './behind-wall.ts'
import { who } from './hostile-git.ts'

/** A project with one commit, and a folder beside it in which an attack would leave its canary. */
export function gitGrounds(
  t: TestContext,
  user: WallUser,
  lay?: (root: string, git: (...args: string[]) => void) => void,
) {
  const { base, root, home } = groundsOf(t, user)
  const canaries = join(base, 'canaries')
  mkdirSync(canaries)
  chmodSync(canaries, 0o777)
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always', '-c', 'safe.directory=*', ...args],
      {
        cwd: root,
        env: { PATH: process.env.PATH, HOME: home, ...who },
        stdio: 'pipe',
        encoding: 'utf8',
      },
    )
  git('init', '-q')
  git('config', 'user.name', 'u')
  git('config', 'user.email', 'u@e')
  writeFileSync(join(root, 'a.txt'), 'one\n')
  git('add', '-A')
  git('commit', '-qm', 'first')
  lay?.(root, git)
  if (user.id !== undefined) give(base, user.id)
  /** Everything that a person does with git later, outside of any wall. */
  const laterOutside = (cwd = root) => {
    const env = { PATH: process.env.PATH, HOME: home, ...who, GIT_EDITOR: 'true' }
    const all = [
      ['status'],
      ['diff'],
      ['add', '-A'],
      ['commit', '-qm', 'later'],
      ['checkout', '-q', '-b', 'later'],
      ['rebase', '--continue'],
      ['stash'],
      ['gc', '-q'],
      ['fetch', 'origin'],
    ]
    const as = user.id === undefined ? [] : ['setpriv', `--reuid=${user.id}`, `--regid=${user.id}`, '--clear-groups']
    for (const args of all) {
      const [program, ...rest] = [...as, 'git', ...args]
      spawnSync(program!, rest, { cwd, env, stdio: 'ignore', timeout: 20_000 })
    }
    return readdirSync(canaries).sort()
  }
  return { base, root, home, canaries, git, laterOutside }
}

export const lines = (out: string) => out.split('\n').filter(Boolean)

/** Says of each command whether it worked. */
export const tried = (commands: readonly string[]) =>
  commands
    .map((command, i) => `if (${command}) >/dev/null 2>&1; then echo "worked: ${i}"; else echo "failed: ${i}"; fi`)
    .join('\n')
