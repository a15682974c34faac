import type { TaskWorkspace, WantedWorkspace } from '../hub/model/tasks/task-source.ts'
import type { ClonedPlace } from './clone-cache.ts'
import type { Environment } from './worktree-git.ts'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { anyChange, gitFolders } from '../base/files/git.ts'
import { projectGit, repositoryOf } from '../base/git/project-git.ts'
import { messageOf } from '../base/error-message.ts'
import { UnfitTask } from '../hub/model/tasks/task-source.ts'
import { repositoryIn } from '../hub/model/tasks/workspace.ts'
import { branchOf, changesOf, commitAll } from './task-branches.ts'
import { addWorktree, checkOut, hasBranch } from './worktree-git.ts'

type ClonedWorkspaceParts = {
  env: Environment
  /** The agent's working folder, which contains a folder for each task. */
  folder: string
  /** Finds or makes the clone of a workspace. */
  cloned(wanted: WantedWorkspace, signal: AbortSignal): Promise<ClonedPlace>
}

/** Work in any repository that the machine has cloned: each task has its own worktree with its own branch. */
export function clonedWorkspace({ env, folder, cloned }: ClonedWorkspaceParts): TaskWorkspace {
  const git = projectGit(env)
  const nameOf = (task: string, workspace: string) => {
    const path = repositoryIn(workspace)?.path ?? 'work'
    return `${path.split('/').at(-1)}-${task.slice(-8)}`
  }
  /** The worktree of the present task. */
  let current: string | undefined
  const baseOf = (task: string) => `refs/termaite/bases/${task.slice(-8)}`
  /** Removes the worktrees of earlier tasks whose work is committed. */
  const sweep = async (except?: string) => {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const path = join(folder, name)
      if (path === except || !existsSync(join(path, '.git')) || !gitFolders(path)) continue
      if ((await git(path, ...anyChange).catch(() => 'unknown')) !== '') continue
      const repository = repositoryOf(path)
      await git(repository, 'worktree', 'remove', '--force', path).catch(() =>
        rm(path, { recursive: true, force: true }),
      )
    }
  }
  return {
    folder: (task, { workspace }) => join(folder, nameOf(task, workspace)),
    path: () => current,
    async begin(task, wanted, signal) {
      const path = join(folder, nameOf(task, wanted.workspace))
      await sweep(path)
      current = path
      if (existsSync(join(path, '.git'))) return
      const { root, commit } = await cloned(wanted, signal).catch((error) => {
        throw new UnfitTask(messageOf(error))
      })
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const branch = branchOf(task)
      const goesOn = await hasBranch(git, root, branch)
      if (!goesOn) await git(root, 'update-ref', baseOf(task), commit)
      await git(root, 'worktree', 'prune')
      await addWorktree(git, root, path, goesOn ? [] : ['-b', branch], goesOn ? branch : commit)
      // A repository that nobody here has checked gets no filter of this machine.
      await checkOut(git, path, { filters: false })
    },
    async end(task, title) {
      const branch = branchOf(task)
      if (current === undefined || (await git(current, 'rev-parse', '--abbrev-ref', 'HEAD')) !== branch)
        return undefined
      await commitAll(git, current, title)
      return changesOf(git, current, await git(current, 'rev-parse', baseOf(task)), branch)
    },
    async clear() {
      await sweep()
      return undefined
    },
  }
}
