import type { BriefChange } from '../../../hub/model/task-brief.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import { signal } from '@preact/signals'
import { withNote } from '../../../hub/model/tasks/task-note.ts'
import { HubRefusal, call } from './page-connection.ts'
import { request } from './page-request.ts'

export type TaskChange = Extract<BriefChange, { type: 'task' }>

/** The open task with all its details; `missing` if the hub has no such task, with the hub's message in `why`. */
type OpenTask = { id: string; seq: number; task?: Task; missing?: true; why?: string }

export const openTask = signal<OpenTask | undefined>(undefined)
/** Changes of the open task since the page began to read it. */
let since: TaskChange[] = []
/** Counts the reads, so that the answer to an outdated one is discarded. */
let reading = 0

/** Opens the task with this id; the returned function closes it. */
export function readWhole(id: string): () => void {
  openTask.value = { id, seq: 0 }
  void readOpenTask()
  return () => {
    if (openTask.value?.id === id) openTask.value = undefined
  }
}

/** Reads the open task again. */
export async function readOpenTask(): Promise<void> {
  const id = openTask.value?.id
  if (id === undefined) return
  const mine = ++reading
  since = []
  try {
    const { seq, task } = await call(request('GET /api/page/tasks/:id', { id }))
    if (mine !== reading || openTask.value?.id !== id) return
    const later = since.filter((change) => change.seq > seq)
    openTask.value = { id, seq, task: later.reduce<Task>(changedTask, task) }
    if (later.some(({ cut }) => cut)) void readOpenTask()
  } catch (error) {
    // Other code reports an unreachable hub, and the task is read again with the next connection.
    if (mine === reading && error instanceof HubRefusal && [404, 410].includes(error.status))
      openTask.value = { id, seq: 0, missing: true, why: error.message }
  }
}

/** Applies a change to the open task, if it is a change of that task. */
export function noteChange(change: TaskChange): void {
  const now = openTask.value
  if (now?.id !== change.id || change.seq <= now.seq) return
  since.push(change)
  if (now.task === undefined) return
  if (change.cut) void readOpenTask()
  else openTask.value = { ...now, task: changedTask(now.task, change) }
}

/** The task after a change: fields are set or unset, and the new note, step and try are added. */
export function changedTask(was: Task | undefined, change: TaskChange): Task {
  const { set, unset = [], note, step, try: next } = change
  const base = was ?? { notes: [], history: [], tries: [] }
  const tries = base.tries ?? []
  const kept = Object.fromEntries(Object.entries(base).filter(([name]) => !(unset as string[]).includes(name)))
  return {
    ...kept,
    ...set,
    notes: note ? withNote(base.notes, note) : base.notes,
    history: step ? [...base.history, step] : base.history,
    tries: next ? [...tries.filter(({ number }) => number !== next.number), next] : tries,
  } as Task
}
