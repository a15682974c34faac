import type { KeptText } from '../../model/tasks/task-try.ts'
import type { Pipeline } from '../../model/tasks/pipeline.ts'
import type { Deadline, Plan } from '../../model/plans/plan.ts'
import type { SpendingCap } from '../../model/tasks/spending-cap.ts'
import type { BlockedTask, HeldTask, QueuedTask, Task, UndoneTask } from '../../model/tasks/task.ts'
import { defined } from '../../../base/defined.ts'
import { durationText } from '../../../base/time/duration.ts'
import { filledPrompt, handedBytes } from '../../model/tasks/handed-results.ts'
import { templateText } from '../../../core/data/prompt-template.ts'
import { failTask, queuedAgain } from './task-moves.ts'
import { HubError, newTask } from './task-rules.ts'

/** A new run of a plan: its id, who adds it, and a note about it. */
type NewRun = {
  id: string
  by: string
  now: number
  digest: string
  /** The cap of each task, by the settings of the hub. */
  taskCap?: SpendingCap | undefined
  schedule?: string
  note?: string | undefined
}

/** The ids of the tasks of a run, by their names in the plan. They follow from the id of the pipeline, and sort in the order of the plan. */
const taskIdsOf = ({ tasks }: Plan, id: string) =>
  new Map(tasks.map(({ name }, index) => [name, `${id}${String(index + 1).padStart(3, '0')}`]))

/** The ids of the tasks of a run, which are known before its round has begun. */
export const runTasks = (plan: Plan, id: string): string[] => [...taskIdsOf(plan, id).values()]

/** Makes a pipeline and its tasks. */
export function newRun(plan: Plan, { id, by, now, digest, taskCap, schedule, note }: NewRun) {
  if (!/^[\w-]{8,60}$/.test(id)) throw new HubError('wrong', 'A pipeline id has 8 to 60 letters, digits, "_" and "-".')
  const ids = taskIdsOf(plan, id)
  const taskOf = (name: string) => ({ id: ids.get(name)!, name })
  const end = momentOf(plan.deadline, now)
  const tasks = plan.tasks.map((planned): QueuedTask => {
    const { name, workspace, agent, capabilities, priority, needs, retries } = planned
    const parts = planned.prompt.map((part) =>
      typeof part === 'string' ? part : { ...part, needs: part.needs.map(taskOf) },
    )
    const fields = { id: ids.get(name)!, prompt: templateText(parts), workspace, wish: agent, capabilities, priority }
    const ends = [end, momentOf(planned.deadline, now)].filter((each) => each !== undefined)
    return {
      ...newTask(defined({ ...fields, by, cap: taskCap }), new Map(), now),
      needs: needs.map((need) => ids.get(need)!),
      pipeline: defined({
        id,
        name,
        template: parts.every((part) => typeof part === 'string') ? undefined : parts,
        retries: retries && { ...retries, made: 0 },
        deadline: ends.length > 0 ? Math.min(...ends) : undefined,
      }),
    }
  })
  const pipeline: Pipeline = defined({
    id,
    name: plan.name,
    by,
    created: now,
    digest,
    tasks: [...ids.values()],
    cap: plan.budget,
    schedule,
    note,
  })
  return { pipeline, tasks }
}

function momentOf(deadline: Deadline | undefined, now: number): number | undefined {
  return deadline && ('at' in deadline ? deadline.at : now + deadline.afterMs)
}

/** How results are passed on: secrets are masked, and only the beginning of a diff is read. */
export type Handing = {
  mask(text: string): string
  beginningOf(text: KeptText, bytes: number): Promise<string>
}

/** A task whose needs are done, with their results filled into its prompt. */
export async function filledTask(
  task: QueuedTask,
  tasks: { get(id: string): Task | undefined },
  { mask, beginningOf }: Handing,
): Promise<QueuedTask> {
  if (!task.pipeline?.template) return task
  const { template, ...pipeline } = task.pipeline
  const handed = async ({ id, name }: { id: string; name: string }) => {
    const need = tasks.get(id)
    const last = need?.tries?.findLast(({ branch, diff }) => branch !== undefined || diff !== undefined)
    const diff = last?.diff && { beginning: await beginningOf(last.diff, handedBytes), bytes: last.diff.bytes }
    return { id, name, agent: need?.agent, result: need?.result, diff, branch: last?.branch }
  }
  const parts = await Promise.all(
    template.map(async (part) =>
      typeof part === 'string' ? part : { ...part, needs: await Promise.all(part.needs.map(handed)) },
    ),
  )
  return { ...task, prompt: filledPrompt(parts, mask), pipeline }
}

/** The next try of a task that failed at an agent; undefined if the plan allows no further try, or the task's time is over. */
export function retriedTask(task: Task, now: number): QueuedTask | undefined {
  const { retries, deadline = Infinity } = task.pipeline ?? {}
  // A task that never had an agent failed because of a need, and would only fail again.
  if (task.state !== 'FAILED' || task.agent === undefined) return undefined
  if (!task.pipeline || !retries || retries.made >= retries.times || deadline <= now) return undefined
  const made = retries.made + 1
  const after = retries.pauseMs === 0 ? '' : ` after a pause of ${durationText(retries.pauseMs)}`
  const why = `retry ${made} of ${retries.times}${after}`
  const pause = retries.pauseMs === 0 ? undefined : { since: now, ms: retries.pauseMs }
  const pipeline = defined({ ...task.pipeline, retries: { ...retries, made }, pause })
  return { ...queuedAgain(task, { at: now, by: 'hub', why, returns: 0 }), pipeline }
}

/**
 * The task of a plan that a person retries: its automatic retries are counted from zero, and a deadline that has passed no longer
 * applies.
 */
export function renewedPlace<T extends Task>(task: T, now: number): T {
  if (!task.pipeline) return task
  const { pause: _, retries, deadline, ...rest } = task.pipeline
  const isOver = deadline !== undefined && deadline <= now
  const pipeline = { ...rest, retries: retries && { ...retries, made: 0 }, deadline: isOver ? undefined : deadline }
  return { ...task, pipeline: defined(pipeline) }
}

/** The task as failed, if its deadline has passed. Work that waits for a review counts as done. */
export function lateTask(task: Task, now: number): UndoneTask | undefined {
  const deadline = task.pipeline?.deadline
  if (deadline === undefined || deadline > now || !mayBeLate(task)) return undefined
  const time = `${new Date(deadline).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return failTask(task, { at: now, by: 'hub', why: `was not done before its deadline, ${time}` })
}

function mayBeLate(task: Task): task is QueuedTask | HeldTask | BlockedTask {
  return ['QUEUED', 'PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS', 'BLOCKED'].includes(task.state)
}
