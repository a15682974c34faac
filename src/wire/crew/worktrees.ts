import type { Worktrees } from '../../crew/parts.ts'
import type { Worktree } from '../../crew/slot.ts'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { collect } from '../../base/collect.ts'
import { makeFolder } from '../../base/files.ts'
import { gitFolders, withoutGit } from '../../base/git.ts'
import { isWithin } from '../../safety/places.ts'

type Env = Readonly<Record<string, string | undefined>>

export type WorktreeParts = {
  root: string
  home: string
  slug: string
  env: Env
  /** What makes a fresh one ready, and whether the project is trusted to run it. */
  setup?: string
  trusted(): Promise<boolean>
}

/** Git worktrees outside of the project, so that nothing in it meets a second copy of its files; none without git. */
export function worktreesOf(parts: WorktreeParts): Worktrees | undefined {
  const { root, home, slug, env } = parts
  if (!gitFolders(root)) return undefined
  const git = async (cwd: string, ...args: string[]) => {
    const { code, out, err, error } = await collect('git', args, { cwd, env: withoutGit(env) })
    if (code === 0) return out.toString().trim()
    throw new Error(error ? error.message : err.trim().split('\n').at(-1) || `git ${args[0]} failed`)
  }
  /** By its own repository: whoever ends an agent may stand in another one. */
  const remove = async ({ path, branch }: Worktree) => {
    const repository = await git(path, 'rev-parse', '--path-format=absolute', '--git-common-dir')
    await git(repository, 'worktree', 'remove', '--force', path)
    await git(repository, 'branch', '-D', branch).catch(() => '')
  }
  return {
    plan: (name) => ({ path: join(home, 'worktrees', slug, name), branch: `termaite/${name}` }),
    async make(worktree, cwd) {
      const base = await git(root, 'rev-parse', 'HEAD').catch(() => {
        throw new Error('a worktree needs a commit to begin from, and this repository has none')
      })
      const free = await freeName(worktree, (branch) => branchIs(git, root, branch))
      makeFolder(dirname(free.path))
      await git(root, 'worktree', 'add', '-b', free.branch, free.path, base)
      const made: Worktree = { ...free, base, made: true }
      const inside = isWithin(root, cwd) ? join(free.path, relative(root, cwd)) : free.path
      const ready = await prepared(parts, made).catch(async (error) => {
        await remove(made)
        throw error
      })
      const notes = [`works in the worktree ${free.path} on the branch ${free.branch}`, ...ready]
      return { worktree: made, cwd: existsSync(inside) ? inside : free.path, notes }
    },
    async clear({ path, branch, base }) {
      const kept = (why: string) => ({
        gone: false as const,
        why: `its worktree ${path} (branch ${branch}) stays: ${why}`,
      })
      if (!existsSync(path)) return { gone: true }
      if ((await git(path, 'status', '--porcelain')) !== '') return kept('it holds changes that are not committed')
      if ((await git(path, 'rev-parse', 'HEAD')) !== base) return kept('it holds commits')
      await remove({ path, branch })
      return { gone: true }
    },
  }
}

type Git = (cwd: string, ...args: string[]) => Promise<string>

const branchIs = (git: Git, root: string, branch: string) =>
  git(root, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).then(
    () => true,
    () => false,
  )

/** A name that an earlier agent's work has is not taken from it. */
async function freeName(wanted: Worktree, taken: (branch: string) => Promise<boolean>): Promise<Worktree> {
  for (let n = 1; ; n++) {
    const more = n === 1 ? '' : `-${n}`
    const { path, branch } = { path: `${wanted.path}${more}`, branch: `${wanted.branch}${more}` }
    if (!existsSync(path) && !(await taken(branch))) return { path, branch }
  }
}

const setupMs = 600_000

async function prepared({ setup, trusted, env }: WorktreeParts, { path }: Worktree): Promise<string[]> {
  if (setup === undefined) return []
  if (!(await trusted())) return [`crew.setup was not run: this folder is not trusted`]
  const { code, err } = await collect('bash', ['-c', setup], { cwd: path, env, signal: AbortSignal.timeout(setupMs) })
  if (code === 0) return [`made ready with: ${setup}`]
  throw new Error(`crew.setup failed (${setup}): ${err.trim().split('\n').at(-1) || `exit ${code ?? 'by a signal'}`}`)
}

/** Every worktree of ours that is there. */
export function worktreesIn(home: string): string[] {
  const inside = (folder: string) => {
    try {
      return readdirSync(folder).map((name) => join(folder, name))
    } catch {
      return []
    }
  }
  return inside(join(home, 'worktrees')).flatMap(inside)
}
