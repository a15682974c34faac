import type { Io } from '../core/io.ts'
import type { TaskChanges, TaskWorkspace } from '../hub/model/tasks/task-source.ts'
import type { Worktree, Worktrees } from '../core/work/worktree.ts'
import type { FileChange } from '../hub/model/tasks/task-changes.ts'
import type { Git, Repository } from '../base/git/project-git.ts'
import { existsSync } from 'node:fs'
import { anyChange, gitFolders, nestedRepositoriesIn } from '../base/files/git.ts'
import { parseNumstat } from '../hub/model/tasks/task-changes.ts'
import { longestText } from '../hub/model/tasks/task-try.ts'
import { checkedGit, projectGit } from '../base/git/project-git.ts'
import { hasBranch } from './worktree-git.ts'

/** Work in the project itself: no branch is created, because the files there belong to the person. */
export const plainWorkspace: TaskWorkspace = {
  begin: async () => {},
  end: async () => undefined,
  clear: async () => undefined,
}

const taskBranches = 'termaite/task-'

/** The branch of a task. */
export const branchOf = (task: string) => `${taskBranches}${task.slice(-8)}`

/** The branches of tasks in the repository at a folder; empty if there is no repository. */
export async function taskBranchesIn(env: Io['env'], folder: string): Promise<string[]> {
  const args = ['for-each-ref', '--format=%(refname:short)', `refs/heads/${taskBranches}*`]
  const { code, out } = await projectGit(env).ran(folder, args)
  return code === 0 ? out.toString().trim().split('\n') : []
}

/**
 * Work in the agent's own worktree: each task is a branch from the project's HEAD, and ends with a commit on it. `remakes`: a missing
 * worktree is created again, because the agent's program can be restarted in it.
 */
export function worktreeWorkspace(
  io: Pick<Io, 'env'>,
  root: string,
  worktree: Worktree,
  worktrees: Worktrees,
  { remakes = false }: { remakes?: boolean } = {},
): TaskWorkspace {
  const { path, base } = worktree
  const git = projectGit(io.env)
  const here = (...args: string[]) => git(path, ...args)
  const commit = (subject: string) => commitAll(git, path, subject)
  // If a folder has lost its own repository, git would search for one above it.
  const isThere = () => gitFolders(path) !== undefined
  const gone = () => new Error(`the worktree ${path} is gone`)
  const checkedOut = async (branch: string) => {
    const before = await here('rev-parse', '--abbrev-ref', 'HEAD')
    if (before === branch) return
    await commit('uncommitted work of an earlier task')
    if (await hasBranch(git, path, branch)) await here('checkout', '-q', '--ignore-other-worktrees', branch)
    else await here('checkout', '-q', '-b', branch, await git(root, 'rev-parse', 'HEAD'))
    await sweepBranch(git, root, before)
  }
  /**
   * Whether the worktree is on the branch of a task. A process that was killed after committing the work has left the branch, and an
   * agent may have created its own: if the work still continues the task's branch, it is moved back to that branch.
   */
  const takenUp = async (branch: string) => {
    const now = await here('rev-parse', '--abbrev-ref', 'HEAD')
    if (now === branch) return true
    if (now.startsWith(taskBranches) || !(await hasBranch(git, path, branch))) return false
    if ((await git.ran(path, ['merge-base', '--is-ancestor', branch, 'HEAD'])).code !== 0) return false
    await here('checkout', '-q', '--ignore-other-worktrees', '-B', branch)
    return true
  }
  return {
    path: () => path,
    async begin(task) {
      const isRemade = remakes && !existsSync(path)
      if (isRemade) await worktrees.remake(worktree)
      if (!isThere()) throw gone()
      await checkedOut(branchOf(task))
      return isRemade ? 'remade' : undefined
    },
    async end(task, title) {
      if (!isThere()) throw gone()
      const branch = branchOf(task)
      if (!(await takenUp(branch))) return undefined
      await commit(title)
      const from = await git(root, 'merge-base', 'HEAD', branch)
      const changes = await changesOf(git, path, from, branch)
      // The worktree leaves the branch, so that a person can check the branch out for a review.
      await here('checkout', '-q', '--detach')
      if (changes.diff === '') await sweepBranch(git, root, branch)
      return changes
    },
    async restore() {
      // All work was committed before the checks ran, so this only discards files that the checks wrote; ignored files stay.
      await here('reset', '-q', '--hard')
      await here('clean', '-f', '-d', '-q')
    },
    async clear() {
      if (!existsSync(path)) return undefined
      const last = await here('rev-parse', '--abbrev-ref', 'HEAD')
      const head = await here('rev-parse', 'HEAD')
      const merged = (await git.ran(root, ['merge-base', '--is-ancestor', head, 'HEAD'])).code === 0
      // If a task's branch or the project's branch has the work, the worktree may go back to its base, and then be removed.
      const done = merged || (await here('branch', '--contains', 'HEAD', '--list', `${taskBranches}*`)) !== ''
      if (done && base !== undefined && (await here(...anyChange)) === '')
        await here('checkout', '-q', '--detach', base)
      const cleared = await worktrees.clear(worktree)
      if (cleared.gone) await sweepBranch(git, root, last)
      return cleared.gone ? undefined : cleared.why
    },
  }
}

/** Commits everything in a worktree, under a title. */
export async function commitAll(git: Git, path: string, title: string): Promise<void> {
  await addAll(git, path)
  if ((await git(path, 'diff', '--cached', '--name-only')) === '') return
  await git(path, ...(await ownName(git, path)), 'commit', '-q', '--no-verify', '-m', subjectOf(title))
}

/** Whether the checked-out branch has a commit. */
export async function hasCommit(env: Io['env'], root: string): Promise<boolean> {
  return (await projectGit(env).ran(root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).code === 0
}

/** The files of a repository without commits: those that the person has staged, and the others that are not ignored. */
export async function uncommittedFiles(env: Io['env'], root: string): Promise<{ staged: string[]; others: string[] }> {
  const listed = async (...args: string[]) => {
    const out = await checkedGit(projectGit(env), root, ['ls-files', '-z', ...args])
    return out
      .toString()
      .split('\0')
      .filter((path) => path !== '')
  }
  return { staged: await listed('--cached'), others: await listed('--others', '--exclude-standard') }
}

/** Commits these files, and those that the person has staged, as the first commit of a repository. */
export async function firstCommit(env: Io['env'], root: string, files: readonly string[]): Promise<void> {
  const git = projectGit(env)
  const input = Buffer.from(files.map((path) => `:(literal)${path}`).join('\0'))
  if (files.length > 0) await checkedGit(git, root, ['add', '--pathspec-from-file=-', '--pathspec-file-nul'], { input })
  await git(root, ...(await ownName(git, root)), 'commit', '-q', '--no-verify', '--allow-empty', '-m', 'First commit')
}

/** The changes of a branch since the commit that it began at. */
export async function changesOf(git: Git, path: string, from: string, branch: string): Promise<TaskChanges> {
  const [diff, last] = await Promise.all([diffOf(git, path, from, branch), git(path, 'rev-parse', branch)])
  return { branch, worktree: path, base: from, commit: last, ...keptOf(diff, branch) }
}

/** Arguments that set our own author name if the person has not set one, because git refuses a commit without a name. */
export const ownName = (git: Git, at: string) =>
  git(at, 'config', 'user.email').then(
    () => [],
    () => ['-c', 'user.name=termaite', '-c', 'user.email=termaite@localhost'],
  )

/** The diff in the form for the hub: if it is too long, its end is left out, starting at the beginning of a line. */
function keptOf(diff: Buffer, branch: string): { diff: string; cut?: true } {
  if (diff.length <= longestDiff) return { diff: diff.toString() }
  const whole = diff.subarray(0, diff.lastIndexOf('\n', longestDiff) + 1).toString()
  return { diff: `${whole}… the rest of the diff is too long. It is on the branch ${branch}.\n`, cut: true }
}

/** Masking may lengthen a diff, and a cut diff gets an additional last line. */
const longestDiff = longestText - 1024 * 1024

/** Returns the diff byte for byte: spaces at its end are part of it. */
export async function diffOf(git: Git, cwd: string, from: string, branch: string): Promise<Buffer> {
  const args = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--submodule=short', from, branch]
  return checkedGit(git, cwd, args)
}

/** The changed files with their counts. */
export async function filesOf(git: Git, cwd: string | Repository, from: string, branch: string): Promise<FileChange[]> {
  const args = ['diff', '--numstat', '-z', '--no-ext-diff', '--no-textconv', '--submodule=short', from, branch]
  return parseNumstat((await checkedGit(git, cwd, args)).toString())
}

/**
 * Deletes the branch of a task if it adds nothing to the project's branch, because the task was cancelled before it changed anything, or
 * its work was merged. A branch that a worktree has checked out stays. Returns whether the branch is gone.
 */
export async function sweepBranch(git: Git, at: string | Repository, branch: string): Promise<boolean> {
  if (!branch.startsWith(taskBranches)) return false
  const { code } = await git.ran(at, ['merge-base', '--is-ancestor', branch, 'HEAD'])
  if (code !== 0) return false
  return git(at, 'branch', '-D', branch).then(
    () => true,
    () => false,
  )
}

/** Adds everything except nested repositories that are already in the index: git would start itself in each of them. */
async function addAll(git: Git, cwd: string): Promise<void> {
  const nested = nestedRepositoriesIn(await checkedGit(git, cwd, ['ls-files', '-z', '-s']), cwd)
  const paths = ['.', ...nested.map((path) => `:(exclude,literal)${path}`)].join('\0')
  const input = Buffer.from(paths, 'latin1')
  await checkedGit(git, cwd, ['add', '-A', '--pathspec-from-file=-', '--pathspec-file-nul'], { input })
}

function subjectOf(title: string): string {
  const [first = ''] = title.trim().split('\n')
  return (first.length > 72 ? `${first.slice(0, 71)}…` : first) || 'a task of the hub'
}
