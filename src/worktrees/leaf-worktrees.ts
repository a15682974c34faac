import type { Environment } from './worktree-git.ts'
import { readdirSync, readFileSync, realpathSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../base/files.ts'
import { gitFolders } from '../base/git.ts'
import { projectGit } from '../base/project-git.ts'
import { randomName } from '../base/id.ts'
import { isAlive, ownerMark } from '../base/owner.ts'
import { addWorktree } from './worktree-git.ts'

type Parts = { root: string; home: string; slug: string; env: Environment }

/** The reason with which our worktrees are locked, followed by the owner: so the owner is known from the start. */
const lock = 'termaite '

const named = 'apart-'

/** Makes a worktree at HEAD, without any files, outside of the project. Nothing else in the person's repository changes. */
export async function newWorktree({ root, home, slug, env }: Parts): Promise<string> {
  const git = projectGit(env)
  await git(root, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch(() => {
    throw new Error('this repository has no commit yet')
  })
  const path = join(home, 'worktrees', slug, `${named}${randomName()}`)
  makeFolder(dirname(path))
  await addWorktree(git, root, path, ['--detach', '--lock', '--reason', lock + ownerMark()], 'HEAD')
  // Without an index git would report every file as deleted and as new.
  await git(path, 'read-tree', 'HEAD').catch(async (error) => {
    await removeWorktree({ root, env }, path)
    throw error
  })
  return realpathSync(path)
}

export async function removeWorktree({ root, env }: Pick<Parts, 'root' | 'env'>, path: string): Promise<void> {
  // Git removes a locked worktree only when it is forced twice.
  await projectGit(env)(root, 'worktree', 'remove', '--force', '--force', path)
  try {
    rmdirSync(dirname(path))
    rmdirSync(dirname(dirname(path)))
  } catch {
    return
  }
}

/** Removes the worktrees that a killed process left. */
export async function sweepWorktrees(parts: Pick<Parts, 'root' | 'env'>): Promise<void> {
  for (const path of leftWorktrees(parts.root)) await removeWorktree(parts, path).catch(() => {})
}

/** Finds worktrees whose owner is dead. Starts no process, because every start of termaite comes here. */
export function leftWorktrees(root: string): string[] {
  const folders = gitFolders(root)
  const all = folders && join(folders.common, 'worktrees')
  return namesIn(all).flatMap((name) => {
    const owner = name.startsWith(named) ? textOf(join(all!, name, 'locked')) : ''
    if (!owner.startsWith(lock) || isAlive(owner.slice(lock.length))) return []
    return [dirname(textOf(join(all!, name, 'gitdir')))]
  })
}

function namesIn(folder: string | undefined): string[] {
  try {
    return folder === undefined ? [] : readdirSync(folder)
  } catch {
    return []
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
