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
  TaskNote,
  TaskResult,
  TaskState,
  TaskTry,
  UndoneTask,
  WorkingTask,
} from '../core/work/task.ts'
import type { Spent } from '../core/work/budget.ts'
import { defined } from '../base/defined.ts'

/** One move of a task: when it happens and who makes it; `note` is kept with the task. */
export type Move = { at: number; by: string; note?: TaskNote }

/** The most notes that are kept with one task. */
const mostNotes = 200

/** Puts a task back into the queue; its last result stays. */
export function queuedAgain(
  task: Exclude<Task, QueuedTask | DoneTask>,
  move: Move & { why?: string; wish?: string; returns?: number },
): QueuedTask {
  const { why, wish = task.wish, returns = task.returns } = move
  return defined({ ...moved(task, 'QUEUED', move, why), why, wish, returns, result: task.result })
}

/** Gives a task to an agent, which has yet to acknowledge it. */
export function offered(task: QueuedTask, agent: string, move: Move): OfferedTask {
  return defined({ ...moved(task, 'PENDING_ACK', move), agent, result: task.result })
}

export function acknowledged(task: OfferedTask, at: number): WorkingTask {
  const { agent, result } = task
  return defined({ ...moved(task, 'ASSIGNED', { at, by: agent }), agent, heard: at, result })
}

/** Keeps a report of progress; the first one moves the task to IN_PROGRESS. */
export function progressed(task: WorkingTask, note: TaskNote): WorkingTask {
  const { agent, result } = task
  const heard = note.at
  if (task.state === 'IN_PROGRESS') return { ...task, heard, notes: withNote(task.notes, note) }
  return defined({ ...moved(task, 'IN_PROGRESS', { at: note.at, by: agent, note }), agent, heard, result })
}

/** The task waits for the answer to a question. */
export function blocked(task: WorkingTask, why: string, note: TaskNote): BlockedTask {
  const { agent, heard, result } = task
  const move = { at: note.at, by: agent, note }
  return defined({ ...moved(task, 'BLOCKED', move, why), agent, heard, why, question: note.text, result })
}

/** The agent has answered: with its work, or with the reason why it could not do it. */
export function responded(
  task: WorkingTask,
  status: 'COMPLETED' | 'IN_REVIEW' | 'FAILED',
  result: TaskResult,
  note: TaskNote,
): ReviewedTask | FinishedTask {
  const { agent, heard } = task
  const move = { at: note.at, by: agent, note, result }
  if (status === 'FAILED') {
    const why = result.message
    return { ...moved(task, status, move, why), agent, heard, why, result }
  }
  // Two equal branches, so that the compiler sees which kind of task each status gives.
  if (status === 'IN_REVIEW') return { ...moved(task, status, move), agent, heard, result }
  return { ...moved(task, status, move), agent, heard, result }
}

export function approved(task: ReviewedTask, move: Move): DoneTask {
  const { agent, heard, result } = task
  return defined({ ...moved(task, 'APPROVED', move), agent, heard, result })
}

export function failed(task: QueuedTask | HeldTask, move: Move & { why: string; returns?: number }): UndoneTask {
  const { agent, heard, result } = task
  const { why, returns = task.returns } = move
  return defined({ ...moved(task, 'FAILED', move, why), agent, heard, why, returns, result })
}

export function cancelled(task: OpenTask, move: Move & { why: string }): UndoneTask {
  const { agent, heard, result } = task
  return defined({ ...moved(task, 'CANCELLED', move, move.why), agent, heard, why: move.why, result })
}

/** Adds what an agent has used to the last try of a task. */
export function withSpent(task: Task, { tokens, cost, priced }: Spent): Task {
  const tries = task.tries ?? []
  const last = tries.at(-1)
  if (!last) return task
  const was = last.spent ?? { tokens: 0 }
  const sum = (a: number | undefined, b: number | undefined) =>
    a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
  const spent = defined({ tokens: was.tokens + tokens, cost: sum(was.cost, cost), priced: sum(was.priced, priced) })
  return { ...task, tries: [...tries.slice(0, -1), { ...last, spent }] }
}

/** Changes the order or the agent of a task that waits; an empty wish takes the wish away. */
export function redirected(task: QueuedTask, change: { priority?: number; wish?: string }, note: TaskNote): QueuedTask {
  const { priority = task.priority, wish = task.wish } = change
  return defined({ ...task, priority, wish: wish === '' ? undefined : wish, notes: withNote(task.notes, note) })
}

/** Adds a note without moving the task. */
export function noted(task: Task, note: TaskNote): Task {
  return { ...task, notes: withNote(task.notes, note) }
}

/** The fields that a task has in every state, after a move to this one. */
function moved<S extends TaskState>(
  task: Task,
  state: S,
  { at, by, note, result }: Move & Partial<Pick<TaskTry, 'result'>>,
  why?: string,
) {
  const { why: _why, agent: _agent, heard: _heard, question: _question, result: _result, ...base } = task
  const history = [...task.history, defined({ at, state, by, why })]
  const tries = triesAfter(task.tries ?? [], state, { at, by, result })
  return defined({
    ...base,
    state,
    moved: at,
    notes: withNote(task.notes, note),
    history,
    tries: tries.length > 0 ? tries : undefined,
  })
}

/** A try begins when an agent acknowledges the task, and ends with the next state but IN_PROGRESS. */
function triesAfter(
  tries: TaskTry[],
  state: TaskState,
  { at, by, result }: { at: number; by: string; result?: TaskResult },
): TaskTry[] {
  if (state === 'ASSIGNED') return [...tries, { number: tries.length + 1, agent: by, began: at }]
  const last = tries.at(-1)
  if (!last || last.ended !== undefined || state === 'IN_PROGRESS') return tries
  return [...tries.slice(0, -1), defined({ ...last, ended: at, end: state, result })]
}

function withNote(notes: TaskNote[], note: TaskNote | undefined): TaskNote[] {
  return note ? [...notes, note].slice(-mostNotes) : notes
}
