import type { Git } from '../../base/git/project-git.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../core/io.ts'
import { ProgramMissing } from '../../base/files/system-error.ts'

/** The changes to review: from `base` to `target`, or to the present files if there is no target. */
export type ReviewScope = {
  /** Describes the changes, as a phrase that follows "findings in". */
  words: string
  base: string
  target?: string
}

/** Finds the changes that a person named: uncommitted changes, a range, a commit or a branch. */
export async function reviewScope(git: Git, root: string, typed: string): Promise<ReviewScope> {
  if (!existsSync(join(root, '.git')))
    throw new UsageError(
      `${root} is not a git repository, so there is nothing to compare with. Make it one and commit: git init && git add -A && git commit`,
    )
  const named = typed.trim()
  if (named === '') {
    const head = await commitOf(git, root, 'HEAD')
    return { words: 'the uncommitted changes', base: head ?? (await emptyTree(git, root)) }
  }
  if (named.startsWith('-') || /\s/.test(named))
    throw new UsageError(`"${named}" is not a range. Name a commit, a branch, or two of them: main..HEAD`)
  const [, from, dots, to] = /^(.*?)(\.{2,3})(.*)$/.exec(named) ?? []
  if (dots === undefined) return (await branchScope(git, root, named)) ?? (await commitScope(git, root, named))
  const [base, target] = [await knownCommit(git, root, from || 'HEAD'), await knownCommit(git, root, to || 'HEAD')]
  return {
    words: `the changes ${named}`,
    base: dots === '..' ? base : await mergeBase(git, root, base, target, named),
    target,
  }
}

/** The names of the local and remote branches, newest first. */
export async function branchNames(git: Git, root: string): Promise<string[]> {
  if (!existsSync(join(root, '.git'))) return []
  const { code, out } = await git.ran(root, [
    'for-each-ref',
    '--sort=-committerdate',
    '--format=%(refname:lstrip=2)',
    '--count=200',
    'refs/heads',
    'refs/remotes',
  ])
  return code === 0
    ? out
        .toString()
        .split('\n')
        .filter((name) => name !== '' && !name.endsWith('/HEAD'))
    : []
}

/**
 * The changes of a branch since it left the other one. On a work branch, the name of another branch means the one into which the work
 * will be merged; on the main branch, it means the branch that would be merged.
 */
async function branchScope(git: Git, root: string, name: string): Promise<ReviewScope | undefined> {
  // A name with one of these signs refers to a commit relative to a branch, such as main~1.
  if (/[~^:?*[\\]|@\{/.test(name)) return undefined
  const branch =
    (await commitOf(git, root, `refs/heads/${name}`)) ?? (await commitOf(git, root, `refs/remotes/${name}`))
  if (branch === undefined) return undefined
  const head = await knownCommit(git, root, 'HEAD')
  const base = await mergeBase(git, root, branch, head, name)
  const comesIn = base !== branch && (base === head || (await isMainBranch(git, root)))
  if (comesIn) return { words: `the changes of ${name}`, base, target: branch }
  return { words: `the changes since ${name}, uncommitted ones included`, base }
}

async function isMainBranch(git: Git, root: string): Promise<boolean> {
  const name = await git(root, 'rev-parse', '--abbrev-ref', 'HEAD')
  const remote = await git(root, 'rev-parse', '--abbrev-ref', 'origin/HEAD').catch(() => '')
  return ['main', 'master', remote.replace(/^origin\//, '')].includes(name)
}

/** The changes of one commit; those of a merge are its changes against its first parent. */
async function commitScope(git: Git, root: string, name: string): Promise<ReviewScope> {
  const target = await knownCommit(git, root, name)
  const base = (await commitOf(git, root, `${target}^`)) ?? (await emptyTree(git, root))
  return { words: `the changes of the commit ${name}`, base, target }
}

async function knownCommit(git: Git, root: string, name: string): Promise<string> {
  const commit = await commitOf(git, root, name)
  if (commit !== undefined) return commit
  throw new UsageError(
    name === 'HEAD'
      ? 'there is no commit here yet. Without a range, /review looks at the uncommitted changes.'
      : `there is no branch or commit "${name}" in this repository.`,
  )
}

async function commitOf(git: Git, root: string, name: string): Promise<string | undefined> {
  const { code, out, error } = await git.ran(root, ['rev-parse', '--verify', '--quiet', `${name}^{commit}`])
  if (error instanceof ProgramMissing) throw error
  return code === 0 ? out.toString().trim() : undefined
}

async function mergeBase(git: Git, root: string, one: string, other: string, named: string): Promise<string> {
  const { code, out } = await git.ran(root, ['merge-base', one, other])
  if (code === 0) return out.toString().trim()
  throw new UsageError(`${named}: the two have no common commit, so there is nothing to compare with.`)
}

/** The tree without files, with which the first commit of a repository is compared. */
async function emptyTree(git: Git, root: string): Promise<string> {
  const { out } = await git.ran(root, ['hash-object', '-t', 'tree', '--stdin'], { input: '' })
  return out.toString().trim()
}
