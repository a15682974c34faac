import type { Io } from '../../../core/io.ts'
import type { Task } from '../../model/tasks/task.ts'
import type { TaskMerge, TaskTry } from '../../model/tasks/task-try.ts'
import type { WorkMerger } from '../../model/tasks/work-merger.ts'
import type { BundleReader } from './fetched-work.ts'
import type { LocalWork, MergeObstacle } from '../../../worktrees/task-merge.ts'
import { cleanText } from '../../../base/text/ansi.ts'
import { defined } from '../../../base/defined.ts'
import { taskTitle } from '../../model/tasks/task.ts'
import { sizeWords } from '../../model/tasks/task-changes.ts'
import { wholeName } from '../../model/tasks/workspace.ts'
import { MergeRefused, RepositoryMissing } from '../../model/tasks/work-merger.ts'
import { list } from '../../../base/text/table.ts'
import { isAskedAbout } from '../../../safety/settings-names.ts'
import { readSettings } from '../../../settings/settings.ts'
import {
  diffBetween,
  localWork,
  mergeObstacle,
  mergeOf,
  mergeWork,
  sweepMerged,
} from '../../../worktrees/task-merge.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { borderOf } from '../../../border/border.ts'
import { homeOf, placeOf } from '../../../home/place.ts'
import { sweepLeftWorktrees } from '../../../crew/machine/left-worktrees.ts'
import { BundleRefused } from '../../../worktrees/work-bundle.ts'
import { machineNameOf } from '../../client/machine-identity.ts'
import { fetchWork } from './fetched-work.ts'
import { rootOf } from './own-workspaces.ts'
import { shortId } from '../../client/hub-client.ts'

/**
 * The work of a task's newest try in the repository at `root`, exactly as it was reviewed: if the branch is missing or at an older try,
 * the work is fetched first. Undefined if there is no branch and the work is stored nowhere. If the branch has moved since the review,
 * throws MergeRefused, with the changes that nobody has reviewed.
 */
export async function reviewedWork(
  io: Io,
  task: Task,
  root: string,
  read: BundleReader,
): Promise<(LocalWork & { fetched?: TaskTry }) | undefined> {
  const here = await localWork(io.env, root, task.id)
  const last = task.tries?.at(-1)
  if (!last || (here && (last.commit === undefined || last.commit === here.commit))) return here
  if ((last.bundle ?? last.pushed) === undefined) {
    if (here) throw await changedSince(io, task, last, here)
    return undefined
  }
  try {
    await fetchWork(io, task, last, root, read)
  } catch (error) {
    if (!(error instanceof BundleRefused)) throw error
    // If a branch here has commits of its own, fetching does not move it.
    const diff = here && (await diffBetween(io.env, root, last.commit!, here.commit))
    throw diff ? await changedSince(io, task, last, here) : new MergeRefused(error.message)
  }
  const work = await localWork(io.env, root, task.id)
  if (work && last.commit !== undefined && last.commit !== work.commit) throw await changedSince(io, task, last, work)
  return work && { ...work, fetched: last }
}

/**
 * The work that an agent submits only as a commit. The diff is read from the task's branch, so that the reviewed changes are those that
 * would be merged. A repository on another machine is read when the work is merged. Throws HubError if the branch is at another commit.
 */
export async function handedInWork(io: Io, { id, workspace }: Task, commit: string) {
  const root = await rootOf(io, workspace)
  const work = root === undefined ? undefined : await localWork(io.env, root, id)
  if (!work) return { place: { commit } }
  const { branch, base } = work
  if (work.commit !== commit)
    throw new HubError(
      'conflict',
      `The branch ${branch} is at ${work.commit}, and you named ${commit}. Commit your work on the branch, and name the commit that git rev-parse ${branch} prints.`,
    )
  const diff = base === undefined ? undefined : await diffBetween(io.env, work.root, base, commit)
  const mask = borderOf(io.env, homeOf(io.env)).toward('hub')
  const place = defined({ machine: machineNameOf(undefined), branch, commit, base, worktree: work.worktree })
  return defined({ diff: diff && mask(diff.text), place })
}

/** The most lines of a diff that a refusal shows. */
const mostLines = 60

/** Refuses work that differs from the reviewed work: shows the new changes, and how to have them reviewed. */
async function changedSince(io: Io, task: Task, { number, commit }: TaskTry, work: LocalWork): Promise<MergeRefused> {
  const { id, state } = task
  const { root, branch } = work
  const short = shortId(id)
  const diff = await diffBetween(io.env, root, commit!, work.commit)
  const mask = borderOf(io.env, homeOf(io.env)).toward('hub')
  const lines = diff ? cleanText(mask(diff.text)).trimEnd().split('\n') : []
  const command = `git -C ${root} diff ${commit!.slice(0, 12)} ${work.commit.slice(0, 12)}`
  const more = lines.length > mostLines ? [`… ${lines.length - mostLines} more lines: ${command}`] : []
  const again = `termaite task reject ${short} "Your branch has changes that nobody reviewed. Hand it in again."`
  return new MergeRefused(
    [
      `The branch ${branch} is not what was reviewed: attempt ${number} ended at ${commit!.slice(0, 8)}, and the branch is at ${work.commit.slice(0, 8)}. Nothing was merged, and the task stays ${state}.`,
      ...(state === 'IN_REVIEW' ? [`To have the changes reviewed: ${again}`] : []),
      ...(diff
        ? [
            `To merge what was reviewed, set the branch back first: git -C ${root} branch --force ${branch} ${commit}`,
            `Nobody has reviewed these changes (${sizeWords(diff.files) || 'no files'}), as ${command} shows them:`,
            ...lines.slice(0, mostLines),
            ...more,
          ]
        : [`The commit that was reviewed is not in ${root}, so the changes cannot be shown.`]),
    ].join('\n'),
  )
}

/** Merges the work of tasks on this machine, into the branch that is checked out in their workspace. */
export function machineMerger(io: Io, read: BundleReader, machine: string = machineNameOf(undefined)): WorkMerger {
  /** The reviewed work of a task; throws if it cannot be merged here. */
  const workOf = async (task: Task): Promise<LocalWork> => {
    const { id, workspace } = task
    const elsewhere = `Merge it on the machine that has the repository: termaite task approve ${shortId(id)} --merge`
    const root = await rootOf(io, workspace)
    if (root === undefined)
      throw new RepositoryMissing(`The machine ${machine} has no ${wholeName(workspace)}. ${elsewhere}`)
    const work = await reviewedWork(io, task, root, read)
    if (work) return work
    throw new MergeRefused(
      `Task ${shortId(id)} has no branch in ${root} on the machine ${machine}: it was deleted, or is elsewhere. ${elsewhere}`,
    )
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
      if (!work.merged) refuseUnasked(task, work)
      return { commit: work.commit }
    },
    async merge(task) {
      const work = await workOf(task)
      const known = work.merged ? await mergeOf(io.env, work.root, work.commit) : undefined
      if (known) return merged(work, known.commit)
      refuseUnasked(task, work)
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

/**
 * Says why a task's work may only be merged by a person who is asked at this moment: it could make programs start by themselves, or its
 * agent has not said which commit to review. Undefined if any approval is enough.
 */
export function askedWords({ tries }: Task, { files, root, branch }: LocalWork): string | undefined {
  const paths = files.map(({ path }) => path).filter(isAskedAbout)
  const last = tries?.at(-1)
  const why = [
    ...(paths.length > 0 ? [`Programs could start by themselves from ${list(paths, 12)}.`] : []),
    ...(last && last.commit === undefined
      ? [`${last.agent} has not said which commit was to be reviewed, so the branch may hold anything by now.`]
      : []),
  ]
  return why.length === 0 ? undefined : `${why.join(' ')} To read the changes: git -C ${root} diff HEAD...${branch}`
}

/** Refuses work that may only be merged by a person who is asked. */
function refuseUnasked(task: Task, work: LocalWork): void {
  const words = askedWords(task, work)
  if (words === undefined) return
  const next = `Then merge it in a terminal of this machine, which asks you: termaite task approve ${shortId(task.id)} --merge`
  throw new MergeRefused(`Nothing was merged, and the task stays ${task.state}. ${words}. ${next}`)
}

/** The subject of the commit that merges a task. */
export function mergeSubject(task: Task, { branch }: LocalWork): string {
  return `Merge ${branch}: ${taskTitle(task).slice(0, 60)}`
}

/** Says why a merge was not made, and what to do next. */
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

/** Removes the branch of merged work, and the worktrees of killed agents. Returns messages about what was done. */
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
