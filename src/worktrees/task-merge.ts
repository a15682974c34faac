import type { FileChange } from '../hub/model/tasks/task-changes.ts'
import type { Git } from '../base/git/project-git.ts'
import type { Environment } from './worktree-git.ts'
import { existsSync, realpathSync } from 'node:fs'
import { gitFolders } from '../base/files/git.ts'
import { checkedGit, projectGit } from '../base/git/project-git.ts'
import { branchOf, diffOf, filesOf, ownName, sweepBranch } from './task-branches.ts'
import { hasBranch } from './worktree-git.ts'

/** The work of a task in a repository of this machine. */
export type LocalWork = {
  /** The work tree that the changes would be merged into. */
  root: string
  branch: string
  /** The last commit of the branch, and the commit at which it left the branch that is checked out in `root`. */
  commit: string
  base: string | undefined
  /** The branch that is checked out in `root`; undefined if HEAD names a commit. */
  into: string | undefined
  files: FileChange[]
  /** Whether everything on the branch is already in `root`. */
  merged: boolean
  /** The worktree that has the branch checked out. */
  worktree?: string
}

/** Finds the branch of a task in the repository at `root`; undefined if there is no repository or no such branch. */
export async function localWork(env: Environment, root: string, task: string): Promise<LocalWork | undefined> {
  if (!existsSync(root) || !gitFolders(root)) return undefined
  const git = projectGit(env)
  const branch = branchOf(task)
  if (!(await hasBranch(git, root, branch))) return undefined
  // An agent may move its branch at any moment, so everything is read from one commit.
  const commit = await git(root, 'rev-parse', branch)
  const [into, base, merged, worktree] = await Promise.all([
    git(root, 'rev-parse', '--abbrev-ref', 'HEAD').catch(() => 'HEAD'),
    git(root, 'merge-base', 'HEAD', commit).catch(() => undefined),
    isAncestor(git, root, commit, 'HEAD'),
    worktreeOf(git, root, branch),
  ])
  const files = base === undefined ? [] : await filesOf(git, root, base, commit)
  const known = { root, branch, commit, base, into: into === 'HEAD' ? undefined : into, files, merged }
  return worktree === undefined ? known : { ...known, worktree }
}

/** The commit of a work tree into which another commit was merged; undefined if it is not merged. */
export async function mergeOf(env: Environment, root: string, commit: string): Promise<{ commit: string } | undefined> {
  const git = projectGit(env)
  if (!existsSync(root) || !(await isAncestor(git, root, commit, 'HEAD'))) return undefined
  return { commit: await git(root, 'rev-parse', 'HEAD') }
}

/** The diff between two commits of a repository; undefined if one of them does not exist. */
export async function diffBetween(
  env: Environment,
  root: string,
  from: string,
  to: string,
): Promise<{ files: FileChange[]; text: string } | undefined> {
  const git = projectGit(env)
  try {
    const [files, diff] = await Promise.all([filesOf(git, root, from, to), diffOf(git, root, from, to)])
    return { files, text: diff.toString() }
  } catch {
    return undefined
  }
}

/** Whether two folders belong to one repository. */
export function sameRepository(a: string, b: string): boolean {
  const [one, other] = [gitFolders(a)?.common, gitFolders(b)?.common]
  return one !== undefined && other !== undefined && realpathSync(one) === realpathSync(other)
}

/** Why a merge is impossible: conflicts in these files, or another reason. Nothing was changed. */
export type MergeObstacle = { type: 'conflicts'; paths: string[] } | { type: 'refused'; why: string }

/** The outcome of a merge; `forward`: the person's branch had no commits of its own, and was only moved forward. */
export type Merge = { type: 'merged'; commit: string; forward: boolean } | MergeObstacle

/**
 * Finds obstacles to a merge, without changing anything. Changed files that the merge does not touch stay as they are. A git before 2.38
 * cannot foresee conflicts.
 */
export async function mergeObstacle(env: Environment, work: LocalWork): Promise<MergeObstacle | undefined> {
  const { root, branch, commit, into } = work
  const git = projectGit(env)
  const refused = (why: string): MergeObstacle => ({ type: 'refused', why })
  if (into === undefined)
    return refused(`no branch is checked out in ${root}. Check one out first: git switch <branch>`)
  if (into === branch) return refused(`${root} is on ${branch} itself. Check out the branch that it should go into`)
  const dirty = await changedFiles(git, root)
  if (dirty.length > 0) {
    const touched = await touchedFiles(git, root, commit)
    const inTheWay = dirty.filter(({ path }) => touched.has(path)).map(({ path }) => path)
    if (inTheWay.length > 0)
      return refused(`${root} has changes that are not committed (${listed(inTheWay)}). Commit or stash them first`)
  }
  const paths = (await foreseenMerge(git, root, commit)).conflicts
  return paths.length > 0 ? { type: 'conflicts', paths } : undefined
}

/**
 * Merges the commit of a task's work, wherever its branch is now, into the branch that is checked out in the work tree. If a conflict
 * occurs nevertheless, the merge is undone; changes of files that it does not touch stay.
 */
export async function mergeWork(env: Environment, work: LocalWork, subject: string): Promise<Merge> {
  const obstacle = await mergeObstacle(env, work)
  if (obstacle) return obstacle
  const { root, commit } = work
  const git = projectGit(env)
  // The person's own filters, such as git-lfs, write the merged files in the same way as for a merge by hand.
  const options = { filters: true }
  const name = await ownName(git, root)
  const forward = await isAncestor(git, root, 'HEAD', commit)
  const staged = !forward && (await changedFiles(git, root)).some(({ isStaged }) => isStaged)
  const prepared = staged ? await mergeCommit(git, root, { commit, subject, name }) : undefined
  const how =
    forward || prepared !== undefined
      ? ['--ff-only', prepared ?? commit]
      : ['--no-ff', '--no-verify', '-m', subject, commit]
  const { code, err } = await git.ran(root, [...name, 'merge', '--quiet', ...how], options)
  if (code === 0) return { type: 'merged', commit: await git(root, 'rev-parse', 'HEAD'), forward }
  const paths = await unmergedFiles(git, root)
  if (paths.length > 0) await git.ran(root, ['merge', '--abort'], options)
  return paths.length > 0 ? { type: 'conflicts', paths } : { type: 'refused', why: gitWords(err) }
}

/**
 * Creates the commit of a merge outside the work tree, because git does not merge into an index with staged changes; undefined with an
 * old git.
 */
async function mergeCommit(
  git: Git,
  root: string,
  { commit, subject, name }: { commit: string; subject: string; name: readonly string[] },
): Promise<string | undefined> {
  const { tree } = await foreseenMerge(git, root, commit)
  if (tree === undefined) return undefined
  return git(root, ...name, 'commit-tree', tree, '-p', 'HEAD', '-p', commit, '-m', subject)
}

/** Removes the branch of a merged task, unless a worktree has it checked out. Returns whether the branch is gone. */
export function sweepMerged(env: Environment, { root, branch }: Pick<LocalWork, 'root' | 'branch'>): Promise<boolean> {
  return sweepBranch(projectGit(env), root, branch)
}

/**
 * The tree that a merge would create and the files that would conflict, determined without touching the work tree; both are missing with
 * an old git.
 */
async function foreseenMerge(git: Git, root: string, commit: string): Promise<{ tree?: string; conflicts: string[] }> {
  const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', 'HEAD', commit]
  const { code, out } = await git.ran(root, args)
  const [tree = '', ...paths] = out.toString().split('\0')
  if (code === 0) return { tree, conflicts: [] }
  return { conflicts: code === 1 ? [...new Set(paths)].filter((path) => path !== '') : [] }
}

/** The files that a merge of a commit writes or removes. */
async function touchedFiles(git: Git, root: string, commit: string): Promise<Set<string>> {
  const args = ['diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', `HEAD...${commit}`]
  return new Set((await checkedGit(git, root, args)).toString().split('\0'))
}

async function unmergedFiles(git: Git, root: string): Promise<string[]> {
  const { out } = await git.ran(root, ['diff', '--name-only', '--diff-filter=U', '-z'])
  return out
    .toString()
    .split('\0')
    .filter((path) => path !== '')
}

/** The files that differ from the last commit; untracked files do not count, because a merge never overwrites them. */
async function changedFiles(git: Git, root: string): Promise<{ path: string; isStaged: boolean }[]> {
  const args = ['status', '--porcelain', '--no-renames', '-z', '--untracked-files=no', '--ignore-submodules=all']
  const fields = (await checkedGit(git, root, args)).toString().split('\0')
  return fields
    .filter((field) => field !== '')
    .map((field) => ({ path: field.slice(3), isStaged: !field.startsWith(' ') }))
}

/** The worktree, other than the person's own, in which a branch is checked out. */
async function worktreeOf(git: Git, root: string, branch: string): Promise<string | undefined> {
  const text = await git(root, 'worktree', 'list', '--porcelain').catch(() => '')
  const found = text.split('\n\n').find((one) => one.split('\n').includes(`branch refs/heads/${branch}`))
  const path = /^worktree (.*)$/m.exec(found ?? '')?.[1]
  return path === root ? undefined : path
}

const isAncestor = async (git: Git, at: string, older: string, newer: string) =>
  (await git.ran(at, ['merge-base', '--is-ancestor', older, newer])).code === 0

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).join(', ')
  return paths.length > 3 ? `${shown} and ${paths.length - 3} more` : shown
}

/** Git's reason against a merge, on one line. */
function gitWords(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim().replace(/^(?:error|fatal): /, ''))
    .filter((line) => line !== '' && line !== 'Aborting')
  return lines.join(' ').replace(/\.$/, '') || 'git could not merge it'
}
