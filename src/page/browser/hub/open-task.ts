import type { BriefChange } from '../../../hub/model/task-brief.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import { signal } from '@preact/signals'
import { withNote } from '../../../hub/model/tasks/task-note.ts'
import { HubRefusal, call } from './page-connection.ts'
import { request } from './page-request.ts'

export type TaskChange = Extract<BriefChange, { type: 'task' }>

/** The open task, complete; `missing` if the hub has no such task, with the hub's message in `why`. */
type OpenTask = { id: string; seq: number; task?: Task; missing?: true; why?: string }

export const openTask = signal<OpenTask | undefined>(undefined)
/** Changes of the open task since its reading began. */
let since: TaskChange[] = []
/** Counts the reads: the answer to an earlier one is discarded. */
let reading = 0

/** Opens the task of an id; the returned function closes it. */
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
    // Other code reports a hub that cannot be reached, and the task is read again with the next connection.
    if (mine === reading && error instanceof HubRefusal && [404, 410].includes(error.status))
      openTask.value = { id, seq: 0, missing: true, why: error.message }
  }
}

/** Takes a change into the open task, if it is about that. */
export function noteChange(change: TaskChange): void {
  const now = openTask.value
  if (now?.id !== change.id || change.seq <= now.seq) return
  since.push(change)
  if (now.task === undefined) return
  if (change.cut) void readOpenTask()
  else openTask.value = { ...now, task: changedTask(now.task, change) }
}

/** The task after a change: fields that are set or unset, and the note, the step and the try that are added. */
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
