import type { Worktree, Worktrees } from '../core/work/worktree.ts'
import type { SetupParts } from './worktree-setup.ts'
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { messageOf } from '../base/error-message.ts'
import { makeFolder, namesIn } from '../base/files/files.ts'
import { anyChange, gitFolders } from '../base/files/git.ts'
import type { Git } from '../base/git/project-git.ts'
import { checkedGit, projectGit, repositoryOf } from '../base/git/project-git.ts'
import { addWorktree, checkOut, hasBranch } from './worktree-git.ts'
import { isWithin } from '../base/files/real-path.ts'
import { setUpWorktree } from './worktree-setup.ts'

type WorktreeParts = SetupParts & {
  root: string
  home: string
  slug: string
}

/** Worktrees of crew slots. They are outside the project, so that its tools do not find every file twice; undefined without git. */
export function worktreesOf(parts: WorktreeParts): Worktrees | undefined {
  const { root, home, slug, env } = parts
  if (!gitFolders(root)) return undefined
  const git = projectGit(env)
  /** Asks the worktree for its repository, because an agent may be stopped from another project. */
  const remove = async ({ path, branch }: Worktree) => {
    const repository = repositoryOf(path)
    await git(repository, 'worktree', 'remove', '--force', path)
    await git(repository, 'branch', '-D', branch).catch(() => '')
  }
  return {
    plan: (name) => ({ path: join(home, 'worktrees', slug, name), branch: `termaite/${name}` }),
    async make(worktree, cwd) {
      const base = await git(root, 'rev-parse', 'HEAD').catch(() => {
        throw new Error('a worktree needs a commit to begin from, and this repository has none')
      })
      makeFolder(dirname(worktree.path))
      const free = await addUnderFreeName(git, root, worktree, base)
      const made: Worktree = { ...free, base, made: true }
      const trusted = await parts.trusted()
      await checkOut(git, free.path, { filters: trusted }).catch(async (error) => {
        await remove(made)
        throw error
      })
      const inside = isWithin(root, cwd) ? join(free.path, relative(root, cwd)) : free.path
      const ready = await setUpWorktree(parts, made.path).catch(async (error) => {
        await remove(made)
        throw error
      })
      const works = `works in the worktree ${free.path} on the branch ${free.branch}`
      const notes = [works, ...(await filterNotes(git, free.path, trusted)), ...ready]
      return { worktree: made, cwd: existsSync(inside) ? inside : free.path, notes }
    },
    async remake({ path }) {
      makeFolder(dirname(path))
      // Git still has a record of the old worktree at this path, and only reuses the path with `--force`.
      await addWorktree(git, root, path, ['--force', '--detach'], await git(root, 'rev-parse', 'HEAD'))
      await checkOut(git, path, { filters: await parts.trusted() })
      await setUpWorktree(parts, path)
    },
    async clear({ path, branch, base }) {
      const kept = (why: string) => ({
        gone: false as const,
        why: `its worktree ${path} (branch ${branch}) is kept: ${why}`,
      })
      if (!existsSync(path)) return { gone: true }
      if ((await git(path, ...anyChange)) !== '') return kept('it holds changes that are not committed')
      if ((await git(path, 'rev-parse', 'HEAD')) !== base) return kept('it holds commits of its own')
      await remove({ path, branch })
      return { gone: true }
    },
  }
}

/** Says which filters the files of a new worktree ask for without getting them, such as git-lfs or git-crypt. */
async function filterNotes(git: Git, path: string, trusted: boolean): Promise<string[]> {
  const [asked, own] = await Promise.all([filtersAskedFor(git, path), trusted ? git.filters(path) : undefined])
  const missed = asked.filter((name) => !own?.includes(name))
  if (missed.length === 0) return []
  const why = trusted
    ? "termaite runs only filters of your own git configuration (git config --global), never a repository's"
    : 'this folder is not trusted'
  return [`files for the git filter ${missed.join(', ')} are checked out as they are stored: ${why}`]
}

async function filtersAskedFor(git: Git, path: string): Promise<string[]> {
  const input = await checkedGit(git, path, ['ls-files', '-z'])
  const out = await checkedGit(git, path, ['check-attr', '-z', '--stdin', 'filter'], { input })
  const values = out
    .toString()
    .split('\0')
    .filter((_field, i) => i % 3 === 2)
  return [...new Set(values)].filter((name) => !['unspecified', 'unset', 'set'].includes(name)).sort()
}

/** How many other processes may take a name between its check and its use. */
const mostCollisions = 20

/**
 * Adds the worktree. Its name gets a number if an earlier agent's worktree or branch already has the name, or if another process takes it
 * at the same moment.
 */
async function addUnderFreeName(git: Git, root: string, wanted: Worktree, base: string): Promise<Worktree> {
  for (let n = 1, collisions = 0; ; n++) {
    const more = n === 1 ? '' : `-${n}`
    const { path, branch } = { path: `${wanted.path}${more}`, branch: `${wanted.branch}${more}` }
    if (existsSync(path) || (await hasBranch(git, root, branch))) continue
    try {
      await addWorktree(git, root, path, ['-b', branch], base)
      return { path, branch }
    } catch (error) {
      if (!isTaken(error) || ++collisions > mostCollisions) throw error
    }
  }
}

/** Recognizes git's message that the branch or the folder of a new worktree was created in the meantime. */
const isTaken = (error: unknown) => /already exists|cannot lock ref/.test(messageOf(error))

/** Lists all our worktrees. */
export function worktreesIn(home: string): string[] {
  const inside = (folder: string) => namesIn(folder).map((name) => join(folder, name))
  return inside(join(home, 'worktrees')).flatMap(inside)
}
