import type { Env } from '../base/env.ts'
import type { Git, GitRunOptions } from '../base/git/project-git.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gitFolders } from '../base/files/git.ts'
import { checkedGit } from '../base/git/project-git.ts'
import { isDiskFull } from '../base/files/system-error.ts'

export type Environment = Env

/** Whether a branch is there. */
export const hasBranch = (git: Git, cwd: string, branch: string): Promise<boolean> =>
  git(cwd, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).then(
    () => true,
    (error: unknown) => {
      // On a full disk git cannot run, which says nothing about the branch.
      if (isDiskFull(error)) throw error
      return false
    },
  )

/** Adds a worktree without any files. `args` are the options of `git worktree add` and the commit. */
export async function addWorktree(git: Git, root: string, path: string, options: readonly string[], at: string) {
  const args = ['worktree', 'add', '--no-checkout', ...options, path, at]
  await checkedGit(git, root, args, { starts: true })
  // Git ran with a temporary folder instead of the repository's own and wrote that path, which no longer exists.
  const link = join(path, '.git')
  const name = basename(readFileSync(link, 'utf8').trim())
  writeFileSync(link, `gitdir: ${join(gitFolders(root)!.common, 'worktrees', name)}\n`)
}

/** Writes the files of a new worktree. */
export async function checkOut(git: Git, path: string, options: GitRunOptions): Promise<void> {
  await checkedGit(git, path, ['reset', '--quiet', '--hard'], options)
}
