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
  UndoneTask,
  WorkingTask,
} from '../core/work/task.ts'
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
  const move = { at: note.at, by: agent, note }
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

/** Adds a note without moving the task. */
export function noted(task: Task, note: TaskNote): Task {
  return { ...task, notes: withNote(task.notes, note) }
}

/** The fields that a task has in every state, after a move to this one. */
function moved<S extends TaskState>(task: Task, state: S, { at, by, note }: Move, why?: string) {
  const { why: _why, agent: _agent, heard: _heard, question: _question, result: _result, ...base } = task
  const history = [...task.history, defined({ at, state, by, why })]
  return { ...base, state, moved: at, notes: withNote(task.notes, note), history }
}

function withNote(notes: TaskNote[], note: TaskNote | undefined): TaskNote[] {
  return note ? [...notes, note].slice(-mostNotes) : notes
}
