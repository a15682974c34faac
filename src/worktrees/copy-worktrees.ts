import type { Environment } from './worktree-git.ts'
import { readFileSync, realpathSync, rmdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder, namesIn } from '../base/files/files.ts'
import { gitFolders } from '../base/files/git.ts'
import { projectGit } from '../base/git/project-git.ts'
import { randomName } from '../base/id.ts'
import { isAlive, ownerMark } from '../base/process/owner.ts'
import { addWorktree } from './worktree-git.ts'

type WorktreePlace = { root: string; home: string; slug: string; env: Environment }

/**
 * Our worktrees are locked, and the reason for the lock says what they are: "termaite <owner>" contains nothing that is needed after its
 * owner died, "termaite work <owner>" contains work that nobody has seen, and "termaite kept <moment>" is kept for a day.
 */
const lock = { owned: 'termaite ', work: 'termaite work ', kept: 'termaite kept ' }

const named = 'apart-'

const keptMs = 24 * 60 * 60_000

/**
 * Creates a worktree at HEAD, without any files, outside the project. Nothing else in the person's repository changes. `keeps`: whether
 * the worktree is kept for a day if its process dies.
 */
export async function newWorktree({ root, home, slug, env }: WorktreePlace, keeps = false): Promise<string> {
  const git = projectGit(env)
  await git(root, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch(() => {
    throw new Error('this repository has no commit yet')
  })
  const path = join(home, 'worktrees', slug, `${named}${randomName()}`)
  makeFolder(dirname(path))
  await addWorktree(
    git,
    root,
    path,
    ['--detach', '--lock', '--reason', (keeps ? lock.work : lock.owned) + ownerMark()],
    'HEAD',
  )
  // Without an index git would report every file as deleted and as new.
  await git(path, 'read-tree', 'HEAD').catch(async (error) => {
    await removeWorktree({ root, env }, path)
    throw error
  })
  return realpathSync(path)
}

export async function removeWorktree({ root, env }: Pick<WorktreePlace, 'root' | 'env'>, path: string): Promise<void> {
  const git = projectGit(env)
  // Git removes a locked worktree only if `--force` is given twice.
  const remove = () => git(root, 'worktree', 'remove', '--force', '--force', path)
  await remove().catch(async () => {
    // Git does not touch a folder whose link to the repository was changed or deleted in the folder.
    await rm(path, { recursive: true, force: true })
    await remove()
  })
  try {
    rmdirSync(dirname(path))
    rmdirSync(dirname(dirname(path)))
  } catch {
    return
  }
}

/** Finds out what was done with git in a worktree since `watchWorktree` was called. */
type WorktreeWatch = (changed: readonly string[]) => Promise<{ reverted: string[]; notes: string[] }>

/** Records the state of a worktree: which of its files differ from its commit, its branch, and the stash of the repository. */
export async function watchWorktree({ env }: Pick<WorktreePlace, 'env'>, path: string): Promise<WorktreeWatch> {
  const git = projectGit(env)
  const ref = (...args: string[]) => git(path, 'rev-parse', '--quiet', '--verify', ...args).catch(() => '')
  const [base, stash] = await Promise.all([ref('HEAD'), ref('refs/stash')])
  const differing = async () => {
    const args = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', base]
    const { code, out } = await git.ran(path, args)
    return code === 0 ? new Set(out.toString().split('\0')) : undefined
  }
  const begun = (await differing()) ?? new Set<string>()
  return async (changed) => {
    const [now, head, stashed, branch] = await Promise.all([
      differing(),
      ref('HEAD'),
      ref('refs/stash'),
      git(path, 'symbolic-ref', '--quiet', '--short', 'HEAD').catch(() => ''),
    ])
    // If git can no longer say, every uncommitted change that disappeared may be such a file.
    const reverted = changed.filter((one) => begun.has(one) && !now?.has(one))
    const notes = [
      ...(branch === '' ? [] : [`The branch ${branch} was checked out in the copy. It stays in the repository.`]),
      ...(head === base ? [] : ['There are commits in the copy. Their changes count, and the commits stay there.']),
      ...(stashed === stash ? [] : ['The stash of the repository was changed meanwhile: git stash list shows it.']),
    ]
    return { reverted, notes }
  }
}

/** Keeps a worktree for a day from now. */
export function keepWorktree(root: string, path: string, now: number): void {
  const admin = worktreesOf(root).find((one) => one.path === path)?.admin
  if (admin) writeFileSync(join(admin, 'locked'), `${lock.kept}${now}\n`)
}

/**
 * Removes the worktrees that a killed process left and those whose day is over; from now on, work that nobody has seen is kept for a day.
 */
export async function sweepWorktrees(parts: Pick<WorktreePlace, 'root' | 'env'>, now: number): Promise<void> {
  for (const { path, unseen } of leftWorktrees(parts.root, now))
    if (unseen) keepWorktree(parts.root, path, now)
    else await removeWorktree(parts, path).catch(() => {})
}

type LeftWorktree = { path: string; unseen: boolean }

/**
 * Finds worktrees whose owner is dead, or whose day is over; `unseen`: the owner died while they contained work. Starts no process,
 * because every start of termaite runs this.
 */
export function leftWorktrees(root: string, now: number): LeftWorktree[] {
  return worktreesOf(root).flatMap(({ path, admin }): LeftWorktree[] => {
    const reason = textOf(join(admin, 'locked'))
    const after = (prefix: string) => (reason.startsWith(prefix) ? reason.slice(prefix.length) : undefined)
    const [kept, work, owner] = [after(lock.kept), after(lock.work), after(lock.owned)]
    if (kept !== undefined) return Math.abs(now - Number(kept)) < keptMs ? [] : [{ path, unseen: false }]
    if (work !== undefined) return isAlive(work) ? [] : [{ path, unseen: true }]
    return owner === undefined || isAlive(owner) ? [] : [{ path, unseen: false }]
  })
}

/** The worktrees of a repository that are our copies, with the folder that git keeps for each. */
function worktreesOf(root: string): { path: string; admin: string }[] {
  const folders = gitFolders(root)
  if (!folders) return []
  const all = join(folders.common, 'worktrees')
  return namesIn(all)
    .filter((name) => name.startsWith(named))
    .map((name) => join(all, name))
    .map((admin) => ({ path: dirname(textOf(join(admin, 'gitdir'))), admin }))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
