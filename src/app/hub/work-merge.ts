import type { Io } from '../../core/io.ts'
import type { Task } from '../../core/work/task.ts'
import type { TaskMerge, TaskTry } from '../../core/work/task-try.ts'
import type { WorkMerger } from '../../core/work/work-merger.ts'
import type { BundleReader } from './fetched-work.ts'
import type { LocalWork, MergeObstacle } from '../../worktrees/task-merge.ts'
import { taskTitle } from '../../core/work/task.ts'
import { hostname } from 'node:os'
import { wholeName } from '../../core/work/workspace.ts'
import { MergeRefused, RepositoryMissing } from '../../core/work/work-merger.ts'
import { list } from '../../base/table.ts'
import { isAskedAbout } from '../../safety/wall/settings-names.ts'
import { readSettings } from '../../settings/settings.ts'
import { localWork, mergeObstacle, mergeOf, mergeWork, sweepMerged } from '../../worktrees/task-merge.ts'
import { placeOf } from '../place.ts'
import { sweepLeftWorktrees } from '../supervision/left-worktrees.ts'
import { BundleRefused } from '../../worktrees/work-bundle.ts'
import { fetchWork } from './fetched-work.ts'
import { rootOf } from './own-workspaces.ts'
import { shortId } from './hub-client.ts'

/** The name of this machine. */
export const ownMachine = () => hostname()

/** Merges the work of tasks on this machine, into the branch that is checked out in their workspace. */
export function machineMerger(io: Io, read: BundleReader, machine: string = ownMachine()): WorkMerger {
  /** The work of a task's last try; throws where it cannot be merged here. */
  const workOf = async (task: Task): Promise<LocalWork> => {
    const { id, workspace, tries = [] } = task
    const elsewhere = `Merge it on the machine that has the repository: termaite task approve ${shortId(id)} --merge`
    const root = await rootOf(io, workspace)
    if (root === undefined)
      throw new RepositoryMissing(`The machine ${machine} has no ${wholeName(workspace)}. ${elsewhere}`)
    const last = tries.at(-1)
    const here = await localWork(io.env, root, id)
    const work = last && here?.commit !== last.commit ? ((await brought(task, last, root)) ?? here) : here
    if (!work)
      throw new MergeRefused(
        `Task ${shortId(id)} has no branch in ${root} on the machine ${machine}: it was deleted, or is elsewhere. ${elsewhere}`,
      )
    if (last?.commit !== undefined && last.commit !== work.commit)
      throw new MergeRefused(
        `The branch ${work.branch} is no longer what try ${last.number} left: it is at ${work.commit.slice(0, 8)}, and the try ended at ${last.commit.slice(0, 8)}. Nothing was merged. Look at the branch and merge it yourself: termaite task approve ${shortId(id)} --merge`,
      )
    return work
  }
  /** The work of a try that was done on another machine, brought into the repository here; undefined where it is kept nowhere. */
  const brought = async (task: Task, last: TaskTry, root: string): Promise<LocalWork | undefined> => {
    if ((last.bundle ?? last.pushed) === undefined) return undefined
    try {
      await fetchWork(io, task, last, root, read)
    } catch (error) {
      throw error instanceof BundleRefused ? new MergeRefused(`${machine} cannot merge it: ${error.message}`) : error
    }
    return localWork(io.env, root, task.id)
  }
  const merged = ({ branch, into }: LocalWork, commit: string): TaskMerge => ({
    machine,
    branch,
    into: into ?? 'HEAD',
    commit,
  })
  return {
    machine,
    async check(task) {
      const work = await workOf(task)
      const obstacle = work.merged ? undefined : await mergeObstacle(io.env, work)
      if (obstacle) throw new MergeRefused(obstacleWords(task, work, obstacle))
      if (!work.merged) refuseStarting(task, work)
      return { commit: work.commit }
    },
    async merge(task) {
      const work = await workOf(task)
      const known = work.merged ? await mergeOf(io.env, work.root, work.commit) : undefined
      if (known) return merged(work, known.commit)
      refuseStarting(task, work)
      const merge = await mergeWork(io.env, work, mergeSubject(task, work))
      if (merge.type !== 'merged') throw new MergeRefused(obstacleWords(task, work, merge))
      return merged(work, merge.commit)
    },
    async found({ id, workspace }, commit) {
      const root = await rootOf(io, workspace)
      if (root === undefined) return undefined
      const [work, known] = await Promise.all([localWork(io.env, root, id), mergeOf(io.env, root, commit)])
      return work && known && merged(work, known.commit)
    },
    async sweep({ id, workspace }) {
      const root = await rootOf(io, workspace)
      const work = root && (await localWork(io.env, root, id))
      if (work) await sweepWork(io, work)
    },
  }
}

/** Says from which files of a task's work programs could start by themselves; undefined where there are none. */
export function startingWords({ files, root, branch }: LocalWork): string | undefined {
  const paths = files.map(({ path }) => path).filter(isAskedAbout)
  if (paths.length === 0) return undefined
  return `Programs could start by themselves from ${list(paths, 12)}. To read the changes: git -C ${root} diff HEAD...${branch}`
}

/** Refuses work that only a person who is asked may merge. */
function refuseStarting(task: Task, work: LocalWork): void {
  const words = startingWords(work)
  if (words === undefined) return
  const next = `Then merge it in a terminal of this machine, which asks you: termaite task approve ${shortId(task.id)} --merge`
  throw new MergeRefused(`Nothing was merged, and the task stays ${task.state}. ${words}. ${next}`)
}

/** The subject of the commit that merges a task. */
export function mergeSubject(task: Task, { branch }: LocalWork): string {
  return `Merge ${branch}: ${taskTitle(task).slice(0, 60)}`
}

/** Why a merge was not made, and what to do next. */
export function obstacleWords(task: Task, work: LocalWork, obstacle: MergeObstacle): string {
  const { id, state } = task
  if (obstacle.type === 'refused') return `Nothing was merged: ${obstacle.why}. The task stays ${state}.`
  const { root, branch, into } = work
  const { paths } = obstacle
  const count = paths.length === 1 ? '1 file' : `${paths.length} files`
  const short = shortId(id)
  return [
    `${branch} and ${into} changed the same lines in ${count}. Nothing was merged, and the task stays ${state}:`,
    ...paths.map((path) => `  ${path}`),
    `Let the agent solve it: termaite task reject ${short} "Merge ${into} into your branch and solve the conflicts in ${paths[0]}"`,
    `Or solve it yourself:   git -C ${root} merge ${branch}`,
  ].join('\n')
}

/** Removes the branch of merged work, and the worktrees that killed agents left. Returns what was done, in words. */
export async function sweepWork(io: Io, work: LocalWork): Promise<string[]> {
  const place = placeOf(io, work.root)
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const gone = await sweepLeftWorktrees(io, place, settings).catch(() => [])
  const swept = await sweepMerged(io.env, work)
  return [
    ...gone.map((path) => `Removed the worktree ${path}.`),
    swept
      ? `Removed the branch ${work.branch}.`
      : `The branch ${work.branch} stays, because the worktree ${work.worktree ?? 'of its agent'} uses it.`,
  ]
}
