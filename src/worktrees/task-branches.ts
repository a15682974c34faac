import type { Io } from '../core/io.ts'
import type { TaskWorkspace } from '../core/work/task-source.ts'
import type { Worktree, Worktrees } from '../core/work/worktree.ts'
import type { Git } from '../base/project-git.ts'
import { anyChange, nestedIn } from '../base/git.ts'
import { checkedGit, projectGit } from '../base/project-git.ts'
import { hasBranch } from './worktree-git.ts'

/** Work in the project itself: no branch is made, because the files there are the person's. */
export const plainWorkspace: TaskWorkspace = {
  begin: async () => {},
  end: async () => undefined,
  clear: async () => undefined,
}

const branchOf = (task: string) => `termaite/task-${task.slice(-8)}`

/** The hub takes no longer diff, and a person reads no longer one. */
const longestDiff = 512 * 1024

/** Work in the agent's own worktree: each task is a branch from the project's HEAD, and ends as a commit on it. */
export function worktreeWorkspace(
  io: Pick<Io, 'env'>,
  root: string,
  worktree: Worktree,
  worktrees: Worktrees,
): TaskWorkspace {
  const { path, base } = worktree
  const git = projectGit(io.env)
  const here = (...args: string[]) => git(path, ...args)
  /** Commits everything; under our own name where the person has set none, because git refuses a commit without one. */
  const commit = async (subject: string) => {
    await addAll(git, path)
    if ((await here('diff', '--cached', '--name-only')) === '') return
    const name = await here('config', 'user.email').then(
      () => [],
      () => ['-c', 'user.name=termaite', '-c', 'user.email=termaite@localhost'],
    )
    await here(...name, 'commit', '-q', '--no-verify', '-m', subject)
  }
  return {
    async begin(task) {
      const branch = branchOf(task)
      if ((await here('rev-parse', '--abbrev-ref', 'HEAD')) === branch) return
      await commit('work that was left here')
      if (await hasBranch(git, path, branch)) await here('checkout', '-q', '--ignore-other-worktrees', branch)
      else await here('checkout', '-q', '-b', branch, await git(root, 'rev-parse', 'HEAD'))
    },
    async end(task, message) {
      const branch = branchOf(task)
      if ((await here('rev-parse', '--abbrev-ref', 'HEAD')) !== branch) return undefined
      await commit(subjectOf(message))
      const from = await git(root, 'merge-base', 'HEAD', branch)
      const diff = await diffOf(git, path, from, branch)
      // The branch is left, so that a person can check it out for a review.
      await here('checkout', '-q', '--detach')
      const whole = diff.length <= longestDiff
      return { branch, diff: whole ? diff : `${diff.slice(0, longestDiff)}\n… the rest is on ${branch}\n` }
    },
    async clear() {
      // Where a task's branch has the work, the worktree may go back to its base, and then be removed.
      const done = (await here('branch', '--contains', 'HEAD', '--list', 'termaite/task-*')) !== ''
      if (done && base !== undefined && (await here(...anyChange)) === '')
        await here('checkout', '-q', '--detach', base)
      const cleared = await worktrees.clear(worktree)
      return cleared.gone ? undefined : cleared.why
    },
  }
}

/** Returns the diff byte for byte: spaces at its end are part of it. */
async function diffOf(git: Git, cwd: string, from: string, branch: string): Promise<string> {
  const args = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--submodule=short', from, branch]
  return (await checkedGit(git, cwd, args)).toString()
}

/** Adds everything but nested repositories that the index holds already: git would start itself in each of them. */
async function addAll(git: Git, cwd: string): Promise<void> {
  const nested = nestedIn(await checkedGit(git, cwd, ['ls-files', '-z', '-s']), cwd)
  const paths = ['.', ...nested.map((path) => `:(exclude,literal)${path}`)].join('\0')
  const input = Buffer.from(paths, 'latin1')
  await checkedGit(git, cwd, ['add', '-A', '--pathspec-from-file=-', '--pathspec-file-nul'], { input })
}

function subjectOf(message: string): string {
  const [first = ''] = message.trim().split('\n')
  return (first.length > 72 ? `${first.slice(0, 71)}…` : first) || 'a task of the hub'
}
