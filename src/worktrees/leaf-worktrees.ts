import { readdirSync, readFileSync, realpathSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../base/files.ts'
import { gitFolders, noMonitor, withGitConfig, withoutGit } from '../base/git.ts'
import { randomName } from '../base/id.ts'
import { isAlive, ownerMark } from '../base/owner.ts'
import { gitWith } from '../base/run-git.ts'

type Parts = { root: string; home: string; slug: string; env: Readonly<Record<string, string | undefined>> }

/** Nobody else's repository is meant, and nothing that this one names is run. */
const quietGit = (env: Parts['env']) =>
  gitWith(withGitConfig(withoutGit(env), [noMonitor, ['core.hooksPath', '/dev/null']]))

/** What a worktree of ours is locked with: whose it is is known as soon as it is there. */
const lock = 'termaite '

const named = 'apart-'

/** A worktree at HEAD without any files, outside of the project: of the person's repository nothing else changes. */
export async function newWorktree({ root, home, slug, env }: Parts): Promise<string> {
  const git = quietGit(env)
  await git(root, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch(() => {
    throw new Error('this repository has no commit yet')
  })
  const path = join(home, 'worktrees', slug, `${named}${randomName()}`)
  makeFolder(dirname(path))
  await git(
    root,
    'worktree',
    'add',
    '--detach',
    '--no-checkout',
    '--lock',
    '--reason',
    lock + ownerMark(),
    path,
    'HEAD',
  )
  // Without an index git would call every file deleted, and new.
  await git(path, 'read-tree', 'HEAD').catch(async (error) => {
    await removeWorktree({ root, env }, path)
    throw error
  })
  return realpathSync(path)
}

export async function removeWorktree({ root, env }: Pick<Parts, 'root' | 'env'>, path: string): Promise<void> {
  // Once would do, were it not locked.
  await quietGit(env)(root, 'worktree', 'remove', '--force', '--force', path)
  try {
    rmdirSync(dirname(path))
    rmdirSync(dirname(dirname(path)))
  } catch {
    return
  }
}

/** What a process left behind that was killed. */
export async function sweepWorktrees(parts: Pick<Parts, 'root' | 'env'>): Promise<void> {
  for (const path of leftIn(parts.root)) await removeWorktree(parts, path).catch(() => {})
}

/** Looked up without a process: every start comes by here. */
export function leftIn(root: string): string[] {
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
