import type { Io } from '../../core/io.ts'
import type { Task } from '../../core/work/task.ts'
import type { HubClient } from '../../app/hub/hub-client.ts'
import type { LocalWork, MergeObstacle } from '../../worktrees/task-merge.ts'
import { existsSync } from 'node:fs'
import { projectRoot } from '../../base/git.ts'
import { sizeWords } from '../../core/work/task-changes.ts'
import { say, UsageError } from '../../core/io.ts'
import { confirm } from '../../faces/terminal-questions.ts'
import { readSettings } from '../../settings/settings.ts'
import { localWork, mergeObstacle, mergeWork, sameRepository, sweepMerged } from '../../worktrees/task-merge.ts'
import { shortId } from '../../app/hub/hub-client.ts'
import { placeOf } from '../../app/place.ts'
import { sweepLeftWorktrees } from '../../app/supervision/left-worktrees.ts'

/** A merge that was made: the branch it went into, its commit, and the branch it came from. */
export type Merged = { into: string; commit: string; branch: string }

/** States in which the work of a task may be merged. */
const mergeable: readonly Task['state'][] = ['IN_REVIEW', 'APPROVED', 'COMPLETED']

/** The work of a task on this machine, as seen from the work tree that the person stands in, or else from the task's own. */
export async function workOf(io: Io, { id, workspace }: Task): Promise<LocalWork | undefined> {
  const here = projectRoot(io.cwd)
  const root = existsSync(workspace) && !sameRepository(here, workspace) ? workspace : here
  return sameRepository(root, workspace) ? localWork(io.env, root, id) : undefined
}

/** Approves a task; with `merge` its branch is merged first, so that a merge that cannot be made changes nothing. */
export async function approve(
  io: Io,
  hub: HubClient,
  task: Task,
  { merge, yes }: { merge: boolean; yes: boolean },
): Promise<{ task: Task; merged?: Merged }> {
  const work = await workOf(io, task)
  if (!merge) {
    const approved = await hub.tell(task.id, 'approve')
    if (work && work.files.length > 0) say(io, leftWords(task, work))
    return { task: approved }
  }
  const merged = await merges(io, task, work, yes)
  const approved = task.state === 'IN_REVIEW' ? await hub.tell(task.id, 'approve') : task
  await swept(io, work!)
  return { task: approved, merged }
}

/** Says what a task that was cancelled or approved leaves in the repository, and removes a branch without changes. */
export async function tellLeft(io: Io, task: Task): Promise<void> {
  const work = await workOf(io, task)
  if (!work) return
  if (work.merged) await sweepMerged(io.env, work)
  else say(io, leftWords(task, work))
}

function leftWords({ id, state }: Task, { root, branch, files }: LocalWork): string {
  const see = `See it: git -C ${root} diff HEAD...${branch}.`
  if (state === 'CANCELLED')
    return `The work so far stays on the branch ${branch} (${sizeWords(files)}). ${see} Delete it: git -C ${root} branch -D ${branch}`
  return `The work is on the branch ${branch} (${sizeWords(files)}) and is not merged yet. ${see} Merge it: termaite task approve ${shortId(id)} --merge`
}

async function merges(io: Io, task: Task, work: LocalWork | undefined, yes: boolean): Promise<Merged> {
  const id = shortId(task.id)
  if (!mergeable.includes(task.state))
    throw new UsageError(`task approve: task ${id} is ${task.state}: only work that is done can be merged.`, 1)
  if (!work)
    throw new UsageError(
      `task approve --merge: task ${id} has no branch in ${task.workspace} on this machine. Without --merge the task is only approved.`,
      1,
    )
  const { root, branch, into, files } = work
  // Nobody is asked about a merge that cannot be made.
  const obstacle = await mergeObstacle(io.env, work)
  if (obstacle) throw obstacleError(task, work, obstacle)
  const question = `Merge ${sizeWords(files) || 'nothing new'} from ${branch} into ${into ?? 'HEAD'} in ${root}?`
  if (!(await confirm(io, question, yes))) throw new UsageError('Nothing was merged, and the task stays as it was.', 1)
  const subject = `Merge ${branch}: ${task.prompt.trim().split('\n')[0]!.slice(0, 60)}`
  const merge = await mergeWork(io.env, work, subject)
  if (merge.type !== 'merged') throw obstacleError(task, work, merge)
  say(io, `Merged ${sizeWords(files) || branch} into ${into}${merge.forward ? ' (fast-forward)' : ''}.`)
  return { into: into!, commit: merge.commit, branch }
}

function obstacleError(task: Task, work: LocalWork, obstacle: MergeObstacle): UsageError {
  if (obstacle.type === 'conflicts') return new UsageError(conflictWords(task, work, obstacle.paths), 1)
  return new UsageError(`task approve: nothing was merged: ${obstacle.why}. The task stays ${task.state}.`, 1)
}

function conflictWords({ id, state }: Task, { root, branch, into }: LocalWork, paths: readonly string[]): string {
  const count = paths.length === 1 ? '1 file' : `${paths.length} files`
  const short = shortId(id)
  return [
    `task approve: ${branch} and ${into} changed the same lines in ${count}. Nothing was merged, and the task stays ${state}:`,
    ...paths.map((path) => `  ${path}`),
    `Let the agent solve it: termaite task reject ${short} "Merge ${into} into your branch and solve the conflicts in ${paths[0]}"`,
    `Or solve it yourself:   git -C ${root} merge ${branch}`,
  ].join('\n')
}

/** Removes the branch of merged work, and the worktrees that killed agents left. */
async function swept(io: Io, work: LocalWork): Promise<void> {
  const place = placeOf(io, work.root)
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const gone = await sweepLeftWorktrees(io, place, settings).catch(() => [])
  for (const path of gone) say(io, `Removed the worktree ${path}.`)
  if (await sweepMerged(io.env, work)) say(io, `Removed the branch ${work.branch}.`)
  else say(io, `The branch ${work.branch} stays, because the worktree ${work.worktree ?? 'of its agent'} uses it.`)
}
