import type { Io } from '../../core/io.ts'
import type { Task } from '../../hub/model/tasks/task.ts'
import type { TaskMerge, TaskTry } from '../../hub/model/tasks/task-try.ts'
import type { BundleReader, FetchedWork } from '../../hub/server/merge/fetched-work.ts'
import type { HubClient } from '../../hub/client/hub-client.ts'
import type { LocalWork, MergeObstacle } from '../../worktrees/task-merge.ts'
import { defined } from '../../base/defined.ts'
import { projectRoot } from '../../base/files/git.ts'
import { wholeName } from '../../hub/model/tasks/workspace.ts'
import { sizeWords } from '../../hub/model/tasks/task-changes.ts'
import { say, UsageError } from '../../core/io.ts'
import { confirm } from '../../questions/terminal-questions.ts'
import { localWork, mergeObstacle, mergeWork, sameRepository, sweepMerged } from '../../worktrees/task-merge.ts'
import { askedWords, mergeSubject, obstacleWords, reviewedWork, sweepWork } from '../../hub/server/merge/work-merge.ts'
import { machineNameOf } from '../../hub/client/machine-identity.ts'
import { homeOf } from '../../home/place.ts'
import { MergeRefused } from '../../hub/model/tasks/work-merger.ts'
import { readSettings } from '../../settings/settings.ts'
import { rootOf } from '../../hub/server/merge/own-workspaces.ts'
import { branchOfTry, fetchWork } from '../../hub/server/merge/fetched-work.ts'
import { BundleRefused } from '../../worktrees/work-bundle.ts'
import { shortId } from '../../hub/client/hub-client.ts'

/** States in which the work of a task may be merged. */
const mergeable: readonly Task['state'][] = ['IN_REVIEW', 'APPROVED', 'COMPLETED']

/** Names the newest try of a task as it was shown to the person: the hub refuses a verdict when there is a newer one. */
export function seenTry({ tries = [] }: Task): { try?: number } {
  return defined({ try: tries.at(-1)?.number })
}

/** The work of a task on this machine, seen from the current work tree, or otherwise from the task's own. */
export async function workOf(io: Io, task: Task): Promise<LocalWork | undefined> {
  const root = await repositoryOf(io, task)
  return root === undefined ? undefined : localWork(io.env, root, task.id)
}

/** The work tree of a task's repository: the current one, or otherwise the task's own; undefined if this machine has no such work tree. */
async function repositoryOf(io: Io, { workspace }: Task): Promise<string | undefined> {
  const here = projectRoot(io.cwd)
  const known = await rootOf(io, workspace, here)
  return known !== undefined && sameRepository(here, known) ? here : known
}

/** Approves a task; with `merge` its branch is merged first, so that a merge that cannot be made changes nothing. */
export async function approve(
  io: Io,
  hub: HubClient,
  task: Task,
  { merge, yes }: { merge: boolean; yes: boolean },
): Promise<{ task: Task; merged?: TaskMerge }> {
  if (!merge) {
    const work = await workOf(io, task)
    const approved = await hub.tell(task.id, 'approve', seenTry(task))
    if (work && work.files.length > 0) say(io, leftWords(task, work))
    return { task: approved }
  }
  checkMergeable(task)
  const work = await reviewedHere(io, hub, task)
  if (!work) return mergedElsewhere(io, hub, task, yes)
  const merged = await merges(io, task, work, yes)
  const body = { ...seenTry(task), merged }
  const approved = await hub.tell(task.id, 'approve', body)
  for (const words of await sweepWork(io, work)) say(io, words)
  return { task: approved, merged }
}

/** The work of the newest try as it was reviewed, in a clone on this machine; undefined if this machine has no clone. */
async function reviewedHere(io: Io, hub: HubClient, task: Task): Promise<LocalWork | undefined> {
  const root = await repositoryOf(io, task)
  if (root === undefined) return undefined
  try {
    const work = await reviewedWork(io, task, root, bundlesOf(io, hub))
    const from = work?.fetched
    if (from)
      say(
        io,
        `Fetched ${work.branch} of try ${from.number}, the work of ${from.agent}${from.machine === undefined ? '' : ` on ${from.machine}`}.`,
      )
    return work
  } catch (error) {
    throw error instanceof MergeRefused ? new UsageError(`task approve: ${error.message}`, 1) : error
  }
}

const bundlesOf =
  (io: Io, hub: HubClient): BundleReader =>
  (id, number, from) =>
    hub.bundle(id, number, from, io.signal)

/** Lets the hub have the work merged by a machine that has the repository, and says which one did it. */
async function mergedElsewhere(
  io: Io,
  hub: HubClient,
  task: Task,
  yes: boolean,
): Promise<{ task: Task; merged?: TaskMerge }> {
  const question = `This machine has no clone of ${wholeName(task.workspace)}. Let the hub have it merged by a machine that has one?`
  if (!(await confirm(io, question, yes))) throw new UsageError('Nothing was merged, and the task stays as it was.', 1)
  const approved = await hub.tell(task.id, 'approve', { ...seenTry(task), merge: true })
  const merged = approved.tries?.at(-1)?.reviews?.findLast((review) => review.merged)?.merged
  if (merged) say(io, `${merged.machine} merged ${merged.branch} into ${merged.into} (${merged.commit.slice(0, 8)}).`)
  return defined({ task: approved, merged })
}

/** Brings the branch of a try into a clone; faults say what to do next. */
async function fetchTry(io: Io, hub: HubClient, task: Task, one: TaskTry, root: string): Promise<FetchedWork> {
  try {
    return await fetchWork(io, task, one, root, bundlesOf(io, hub))
  } catch (error) {
    throw error instanceof BundleRefused ? new UsageError(`task ${shortId(task.id)}: ${error.message}`, 1) : error
  }
}

/** Fetches the branch of a task, or of one of its tries, into the clone in the current folder. */
export async function fetchTask(io: Io, hub: HubClient, task: Task, number: number | undefined): Promise<FetchedWork> {
  const { tries = [], id, workspace } = task
  const has = ({ bundle, pushed, branch }: TaskTry) => (bundle ?? pushed ?? branch) !== undefined
  const one =
    number === undefined
      ? tries.findLast((each) => !each.late && has(each))
      : tries.find((each) => each.number === number)
  if (!one)
    throw new UsageError(
      number === undefined ? `task ${shortId(id)} has left no work yet.` : `task ${shortId(id)} has no try ${number}.`,
      1,
    )
  const root = await rootOf(io, workspace, projectRoot(io.cwd))
  if (root === undefined)
    throw new UsageError(
      `this machine has no clone of ${wholeName(workspace)}. Clone it, and call this command in the clone.`,
      1,
    )
  const local = await localWork(io.env, root, id)
  const as = branchOfTry(task, one)
  if (local?.branch === as && local.commit === one.commit) return { branch: as, root, how: 'there', try: one.number }
  return fetchTry(io, hub, task, one, root)
}

function checkMergeable({ id, state }: Task): void {
  if (!mergeable.includes(state))
    throw new UsageError(`task approve: task ${shortId(id)} is ${state}: only work that is done can be merged.`, 1)
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

async function merges(io: Io, task: Task, work: LocalWork, yes: boolean): Promise<TaskMerge> {
  const { root, branch, into, files } = work
  // The person gets no question about a merge that is impossible.
  const obstacle = await mergeObstacle(io.env, work)
  if (obstacle) throw obstacleError(task, work, obstacle)
  const asked = askedWords(task, work)
  // A yes given in advance was meant for other changes.
  if (asked !== undefined && !io.in.isTTY)
    throw new UsageError(
      `task approve: nothing was merged, and the task stays ${task.state}. ${asked}. Then merge it in a terminal, where termaite can ask you.`,
      1,
    )
  if (asked !== undefined) say(io, `${asked}.`)
  const question = `Merge ${sizeWords(files) || 'nothing new'} from ${branch} into ${into ?? 'HEAD'} in ${root}?`
  if (!(await confirm(io, question, yes && asked === undefined)))
    throw new UsageError('Nothing was merged, and the task stays as it was.', 1)
  const merge = await mergeWork(io.env, work, mergeSubject(task, work))
  if (merge.type !== 'merged') throw obstacleError(task, work, merge)
  say(io, `Merged ${sizeWords(files) || branch} into ${into}${merge.forward ? ' (fast-forward)' : ''}.`)
  const { link } = await readSettings({ home: homeOf(io.env) }, { env: io.env })
  return { machine: machineNameOf(link.name), into: into!, commit: merge.commit, branch }
}

const obstacleError = (task: Task, work: LocalWork, obstacle: MergeObstacle) =>
  new UsageError(`task approve: ${obstacleWords(task, work, obstacle)}`, 1)
