import type { Io } from '../core/io.ts'
import type { TaskWorkspace } from '../core/work/task-source.ts'
import type { Worktree, Worktrees } from '../core/work/worktree.ts'
import { collect } from '../base/collect.ts'
import { noMonitor, withGitConfig, withoutGit } from '../base/git.ts'

/** In the project itself: what is there belongs to whoever sits in front of it. */
export const plainWorkspace: TaskWorkspace = {
  begin: async () => {},
  end: async () => undefined,
  clear: async () => undefined,
}

const branchOf = (task: string) => `termaite/task-${task.slice(-8)}`

/** A diff that a hub takes and a person still reads. */
const longestDiff = 512 * 1024

/** A worktree of the agent's own: each task is a branch from where the project is, and ends as a commit on it. */
export function worktreeWorkspace(
  io: Pick<Io, 'env'>,
  root: string,
  worktree: Worktree,
  worktrees: Worktrees,
): TaskWorkspace {
  const { path, base } = worktree
  const env = withGitConfig(withoutGit(io.env), [noMonitor])
  const git = async (cwd: string, ...args: string[]) => {
    const { code, out, err, error } = await collect('git', args, { cwd, env })
    if (code === 0) return out.toString()
    throw new Error(error ? error.message : err.trim().split('\n').at(-1) || `git ${args[0]} failed`)
  }
  const here = (...args: string[]) => git(path, ...args)
  const present = (branch: string) =>
    here('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).then(
      () => true,
      () => false,
    )
  /** With our own name where the person has none: a commit must not fail for that. */
  const commit = async (subject: string) => {
    await here('add', '-A')
    if ((await here('status', '--porcelain')) === '') return
    const name = await here('config', 'user.email').then(
      () => [],
      () => ['-c', 'user.name=termaite', '-c', 'user.email=termaite@localhost'],
    )
    await here(...name, 'commit', '-q', '--no-verify', '-m', subject)
  }
  return {
    async begin(task) {
      const branch = branchOf(task)
      if ((await here('rev-parse', '--abbrev-ref', 'HEAD')).trim() === branch) return
      await commit('work that was left here')
      if (await present(branch)) await here('checkout', '-q', '--ignore-other-worktrees', branch)
      else await here('checkout', '-q', '-b', branch, (await git(root, 'rev-parse', 'HEAD')).trim())
    },
    async end(task, message) {
      const branch = branchOf(task)
      if ((await here('rev-parse', '--abbrev-ref', 'HEAD')).trim() !== branch) return undefined
      await commit(subjectOf(message))
      const from = (await git(root, 'merge-base', 'HEAD', branch)).trim()
      const diff = await here('diff', '--no-color', '--no-ext-diff', from, branch)
      // Whoever reviews it may want to have the branch for themselves.
      await here('checkout', '-q', '--detach')
      const whole = diff.length <= longestDiff
      return { branch, diff: whole ? diff : `${diff.slice(0, longestDiff)}\n… the rest is on ${branch}\n` }
    },
    async clear() {
      // What was done is on the branches of its tasks.
      const done = (await here('branch', '--contains', 'HEAD', '--list', 'termaite/task-*')).trim() !== ''
      if (done && base !== undefined && (await here('status', '--porcelain')) === '')
        await here('checkout', '-q', '--detach', base)
      const cleared = await worktrees.clear(worktree)
      return cleared.gone ? undefined : cleared.why
    },
  }
}

function subjectOf(message: string): string {
  const [first = ''] = message.trim().split('\n')
  return (first.length > 72 ? `${first.slice(0, 71)}…` : first) || 'a task of the hub'
}
