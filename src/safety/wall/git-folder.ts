import { lstat } from 'node:fs/promises'
import { join } from 'node:path'

/** A path that is mounted on itself, so that it can be neither moved nor replaced; each one lies on top of those before it. */
export type GitMount = { path: string; write: boolean }

/** How a wall holds the git folders of a project. `settle` removes what a command may not leave there, and names it. */
export type GitFolder = { mounts: readonly GitMount[]; settle(): Promise<string[]> }

/** The limits of a wall that decide about git. */
export type GitLimits = { root: string; project: 'read' | 'write'; git: 'read' | 'write' }

/** Finds the mounts that belong on top of the project's own mount. */
export async function gitFolder({ root }: GitLimits): Promise<GitFolder> {
  const git = join(root, '.git')
  const there = await lstat(git).catch(() => undefined)
  const kept = there?.isFile() ? [git] : [join(git, 'hooks'), join(git, 'config')]
  return { mounts: there ? kept.map((path) => ({ path, write: false })) : [], settle: async () => [] }
}
