import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gitFolders } from '../../base/git.ts'
import { isWithin } from '../../base/real-path.ts'

/** Below our home, where agents work apart: what is there came with a project, and is not the person's own. */
export const worktreesIn = (own: string) => join(own, 'worktrees')

/** The project that a worktree of ours was made from; undefined for every other folder. */
export async function projectOf(root: string, own: string): Promise<string | undefined> {
  const [at, home] = await Promise.all([root, own].map((path) => realpath(path).catch(() => path)))
  if (!isWithin(worktreesIn(home!), at!)) return undefined
  const git = gitFolders(at!)
  return git && git.common !== git.own ? realpath(dirname(git.common)).catch(() => undefined) : undefined
}
