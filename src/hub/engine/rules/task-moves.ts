import type {
  BlockedTask,
  DoneTask,
  FinishedTask,
  HeldTask,
  OfferedTask,
  OpenTask,
  QueuedTask,
  ReviewedTask,
  Task,
  TaskMerging,
  TaskState,
  UndoneTask,
  WorkingTask,
} from '../../model/tasks/task.ts'
import type { Spent } from '../../../core/work/budget.ts'
import type { Option } from '../../../core/talk/question.ts'
import type { SpendingCap } from '../../model/tasks/spending-cap.ts'
import type { NewNote, TaskNote } from '../../model/tasks/task-note.ts'
import type { TaskMerge, TaskResult, TaskTry, TryReview } from '../../model/tasks/task-try.ts'
import { defined } from '../../../base/defined.ts'
import { addSpent } from '../../model/tasks/spending-cap.ts'
import { withNote } from '../../model/tasks/task-note.ts'

/** One move of a task: when it happens and who makes it; `note` is kept with the task. */
type Move = { at: number; by: string; note?: NewNote }

/** The result that an agent leaves at the end of a try. */
type TryWork = Omit<TaskTry, 'number' | 'agent' | 'began' | 'ended' | 'end' | 'reviews' | 'spent'> & {
  result: TaskResult
}

/** Puts a task back into the queue; its last result stays. */
export function queuedAgain(
  task: Exclude<Task, QueuedTask | DoneTask>,
  move: Move & { why?: string; wish?: string; returns?: number },
): QueuedTask {
  const { why, wish = task.wish, returns = task.returns } = move
  return defined({ ...moveTask(task, 'QUEUED', move, why), why, wish, returns, result: task.result })
}

/** Gives a task to an agent, which has yet to acknowledge it. */
export function offerTask(task: QueuedTask, agent: string, move: Move): OfferedTask {
  return defined({ ...moveTask(task, 'PENDING_ACK', move), agent, result: task.result })
}

export function acknowledgeTask(task: OfferedTask, at: number): WorkingTask {
  const { agent, result } = task
  return defined({ ...moveTask(task, 'ASSIGNED', { at, by: agent }), agent, heard: at, result })
}

/** Records a report of progress; the first one moves the task to IN_PROGRESS. */
export function noteProgress(task: WorkingTask, note: NewNote): WorkingTask {
  const { agent, result } = task
  const heard = note.at
  if (task.state === 'IN_PROGRESS') return { ...task, heard, ...noting(task, note) }
  return defined({ ...moveTask(task, 'IN_PROGRESS', { at: note.at, by: agent, note }), agent, heard, result })
}

/** Blocks the task until its question is answered. */
export function blockTask(task: WorkingTask, why: string, note: NewNote): BlockedTask {
  const { agent, heard, result } = task
  const move = { at: note.at, by: agent, note }
  return defined({ ...moveTask(task, 'BLOCKED', move, why), agent, heard, why, question: note.text, result })
}

/** Pauses a task because a person must answer the hub first; its agent has to stop. */
export function pauseTask(
  task: QueuedTask | HeldTask,
  { at, why, question, options }: { at: number; why: string; question: string; options: Option[] },
): BlockedTask {
  const { heard, result, agent = task.tries?.at(-1)?.agent ?? 'unknown' } = task
  const note: NewNote = { at, by: 'hub', kind: 'question', text: question }
  const base = moveTask(task, 'BLOCKED', { at, by: 'hub', note }, why)
  return defined({ ...base, agent, heard, why, question, options, result })
}

/** Resumes a paused task with the same agent: an agent that had finished when the cap was passed may still give its answer. */
export function resumeTask(task: BlockedTask): WorkingTask {
  const { why: _1, question: _2, options: _3, tries = [], heard = task.moved, ...rest } = task
  const { ended: _4, end: _5, ...last } = tries.at(-1) ?? {}
  return { ...rest, state: 'IN_PROGRESS', heard, tries: [...tries.slice(0, -1), ...('number' in last ? [last] : [])] }
}

/** Gives a task another cap; undefined removes the cap. */
export function withCap<T extends Task>(task: T, cap: SpendingCap | undefined, allowed?: SpendingCap): T {
  return defined({ ...task, cap, allowed: cap && allowed })
}

/** Ends the agent's work on a task, with the result or with the reason why there is no result. */
export function endWork(
  task: WorkingTask,
  status: 'COMPLETED' | 'IN_REVIEW' | 'FAILED',
  work: TryWork,
  note: NewNote,
): ReviewedTask | FinishedTask {
  const { agent, heard } = task
  const { result } = work
  const move = { at: note.at, by: agent, note, work }
  if (status === 'FAILED') {
    const why = result.message
    return { ...moveTask(task, status, move, why), agent, heard, why, result }
  }
  // The two branches are equal, so that the compiler sees which kind of task each status produces.
  if (status === 'IN_REVIEW') return { ...moveTask(task, status, move), agent, heard, result }
  return { ...moveTask(task, status, move), agent, heard, result }
}

export function approveTask(task: ReviewedTask, move: Move & { merged?: TaskMerge }): DoneTask {
  const { agent, heard, result } = task
  const { at, by, merged } = move
  const reviewed = withReview(mergeForgotten(task), defined({ at, by, verdict: 'approved' as const, merged }))
  return defined({ ...moveTask(reviewed, 'APPROVED', move), agent, heard, result })
}

/** Puts a task in review back into the queue, for the agent that did it, with the reason. */
export function rejectTask(task: ReviewedTask, move: Move & { note: NewNote }): QueuedTask {
  const { at, by, note } = move
  const reviewed = withReview(task, { at, by, verdict: 'rejected', text: note.text })
  return queuedAgain(reviewed, { ...move, wish: task.agent })
}

/** Records that a merge begins, before git runs. */
export function mergeBegun<T extends Task>(task: T, merging: TaskMerging): T {
  return { ...task, merging }
}

/** Removes the record of a merge that began. */
export function mergeForgotten<T extends Task>(task: T): T {
  const { merging: _, ...rest } = task
  return rest as T
}

/** Records that the work of a task was merged after it had been approved. */
export function mergedLater(task: DoneTask, move: Move & { merged: TaskMerge }): DoneTask {
  const { by, merged } = move
  const at = notBefore(task, move.at)
  const reviewed = withReview(mergeForgotten(task), { at, by, verdict: 'approved', merged })
  return { ...reviewed, history: [...task.history, { at, state: task.state, by, merged }] }
}

/** Adds a verdict to the last try. */
function withReview<T extends Task>(task: T, review: TryReview): T {
  const tries = task.tries ?? []
  const last = tries.at(-1)
  if (!last) return task
  return { ...task, tries: tries.with(-1, { ...last, reviews: [...(last.reviews ?? []), review] }) }
}

/** The last try of an agent if it ended without the agent's answer: its work may still arrive. */
export function unansweredTry({ tries = [] }: Task, agent: string): TaskTry | undefined {
  const last = tries.findLast((one) => one.agent === agent)
  return last?.ended !== undefined && last.result === undefined ? last : undefined
}

/** Stores work that an agent sends after it lost the task. Neither the task's state nor any other try changes. */
export function withLateWork<T extends Task>(task: T, late: TaskTry, work: TryWork, note: NewNote): T {
  const tries = (task.tries ?? []).map((one) =>
    one.number === late.number ? { ...one, ...work, late: true as const } : one,
  )
  return { ...task, tries, ...noting(task, note) }
}

/** Stores the results of the checks that termaite ran on the last try; they replace earlier results. */
export function withChecks<T extends Task>(task: T, checks: NonNullable<TaskTry['checks']>): T {
  const tries = task.tries ?? []
  const last = tries.at(-1)
  if (!last) return task
  return {
    ...task,
    tries: tries.with(-1, {
      ...last,
      checks: [...checks, ...(last.checks ?? []).filter(({ ranBy }) => ranBy === 'agent')],
    }),
  }
}

export function failTask(
  task: QueuedTask | HeldTask | BlockedTask,
  move: Move & { why: string; returns?: number },
): UndoneTask {
  const { agent, heard, result } = task
  const { why, returns = task.returns } = move
  return defined({ ...moveTask(task, 'FAILED', move, why), agent, heard, why, returns, result })
}

export function cancelTask(task: OpenTask, move: Move & { why: string }): UndoneTask {
  const { agent, heard, result } = task
  return defined({ ...moveTask(task, 'CANCELLED', move, move.why), agent, heard, why: move.why, result })
}

/** Adds an agent's usage to its own last try of a task. */
export function withSpent<T extends Task>(task: T, agent: string, more: Spent): T {
  const tries = task.tries ?? []
  const at = tries.findLastIndex((one) => one.agent === agent)
  const last = tries[at]
  if (!last) return task
  const spent = addSpent(last.spent ?? { tokens: 0 }, more)
  return { ...task, tries: tries.with(at, { ...last, spent }) }
}

/** Changes the priority or the agent of a queued task; an empty wish removes the wish. */
export function redirectTask(
  task: QueuedTask,
  change: { priority?: number; wish?: string },
  note: NewNote,
): QueuedTask {
  const { priority = task.priority, wish = task.wish } = change
  return defined({ ...task, priority, wish: wish === '' ? undefined : wish, ...noting(task, note) })
}

/** Adds a note without moving the task. */
export function addNote<T extends Task>(task: T, note: NewNote): T {
  return { ...task, ...noting(task, note) }
}

/**
 * The time of a move, which is never earlier than the last step: a round that waited for another one began before the other was over, and
 * somebody may have set the clock back.
 */
const notBefore = ({ history }: Task, at: number) => Math.max(at, history.at(-1)?.at ?? at)

/** The fields that a task has in every state, after a move to `state`. */
function moveTask<S extends TaskState>(
  task: Task,
  state: S,
  { at: wished, by, note, work, merged }: Move & { work?: TryWork; merged?: TaskMerge },
  why?: string,
) {
  const at = notBefore(task, wished)
  const { why: _1, agent: _2, heard: _3, question: _4, options: _5, result: _6, ...base } = task
  const history = [...task.history, defined({ at, state, by, why, merged })]
  const tries = triesAfter(task.tries ?? [], state, { at, by, work })
  return defined({
    ...base,
    state,
    moved: at,
    ...(note ? noting(task, note) : {}),
    history,
    tries: tries.length > 0 ? tries : undefined,
  })
}

/** A try begins when an agent acknowledges the task, and ends with the next state other than IN_PROGRESS. */
function triesAfter(
  tries: TaskTry[],
  state: TaskState,
  { at, by, work }: { at: number; by: string; work?: TryWork },
): TaskTry[] {
  if (state === 'ASSIGNED') return [...tries, { number: tries.length + 1, agent: by, began: at }]
  const last = tries.at(-1)
  if (!last || last.ended !== undefined) return tries
  // The try continues while an agent has the task; before an approval, the try was already over.
  if (state === 'IN_PROGRESS' || state === 'PENDING_ACK' || state === 'APPROVED') return tries
  const checks = [...(last.checks ?? []), ...(work?.checks ?? [])]
  return tries.with(
    -1,
    defined({ ...last, ...work, checks: checks.length > 0 ? checks : undefined, ended: at, end: state }),
  )
}

/** The notes of a task with an added note, or with a new version of an existing one. */
function noting(task: Pick<Task, 'notes' | 'noted'>, note: NewNote): { notes: TaskNote[]; noted: number } {
  const count = task.noted ?? task.notes.length
  const { number = count + 1 } = note
  const at = note.number === undefined ? Math.max(note.at, task.notes.at(-1)?.at ?? note.at) : note.at
  return { notes: withNote(task.notes, { ...note, at, number }), noted: Math.max(count, number) }
}
