import type { LedgerRound, TaskRow } from '../../model/hub-ledger.ts'
import type { Pipeline } from '../../model/tasks/pipeline.ts'
import type { RemovedTask } from '../../model/tasks/removed-tasks.ts'
import type { WorkItem } from '../../../core/work/dependencies.ts'
import type { TaskNote } from '../../model/tasks/task-note.ts'
import type { HeldTask, QueuedTask, Task } from '../../model/tasks/task.ts'
import type { RoundConsequences } from './round-consequences.ts'
import { defined } from '../../../base/defined.ts'
import { deadlineOf } from '../../model/hub-ledger.ts'
import { removedWords } from '../../model/tasks/removed-tasks.ts'
import { KnownRows } from './known-rows.ts'
import { addNote } from '../rules/task-moves.ts'
import { isFinished, isHeld, leaseMs, NoTask } from '../rules/task-rules.ts'

/** The tasks of one round, the tasks that they need, and the tasks that each agent has. */
export class TaskRows {
  #ledger: LedgerRound
  #consequences: RoundConsequences
  #rows: KnownRows<TaskRow>
  #needs = new Map<string, TaskRow | undefined>()
  #removed = new Map<string, RemovedTask>()
  /** Maps each agent to the id of its task. */
  #held = new Map<string, string>()
  #notes: { task: string; note: TaskNote }[] = []

  constructor(ledger: LedgerRound, consequences: RoundConsequences) {
    this.#ledger = ledger
    this.#consequences = consequences
    this.#rows = new KnownRows({ read: async (ids) => this.#hold(await ledger.tasks(ids)), id: ({ task }) => task.id })
  }

  /** Reads the tasks that are not known yet. Returns whether there were any. */
  read(ids: readonly string[]): Promise<boolean> {
    return this.#rows.read(ids)
  }

  /** Reads tasks that others need, and that are not changed. Returns whether there were any. */
  async readNeeds(ids: readonly string[]): Promise<boolean> {
    const isKnown = (id: string) => this.#needs.has(id) || this.#rows.known.has(id)
    const wanted = [...new Set(ids)].filter((id) => !isKnown(id)).toSorted()
    if (wanted.length === 0) return false
    const found = new Map((await this.#ledger.needs(wanted)).map((row) => [row.task.id, row]))
    for (const id of wanted) this.#needs.set(id, found.get(id))
    const missing = wanted.filter((id) => !found.has(id))
    if (missing.length > 0) for (const gone of await this.#ledger.removed(missing)) this.#removed.set(gone.id, gone)
    return true
  }

  /** Takes in tasks that the ledger found by means other than their ids; returns them as they are in this round. */
  learn(rows: readonly TaskRow[]): Task[] {
    this.#rows.learn(this.#hold(rows))
    return rows.flatMap(({ task }) => this.#rows.get(task.id)?.task ?? [])
  }

  /** The task of a wish that names further rows once the task was read; undefined before that. */
  ifRead(id: string): Task | undefined {
    return this.#rows.known.get(id)?.task
  }

  known(id: string): Task | undefined {
    return this.#rows.get(id)?.task
  }

  get(id: string): Task {
    const task = this.known(id)
    if (!task) throw new NoTask(id)
    return task
  }

  /** Whether this round has read or written a task, so that no other round changes it. */
  isKnown(id: string): boolean {
    return this.ifRead(id) !== undefined
  }

  /** The ids of the tasks of this round that wait for nothing but an agent. */
  ready(): string[] {
    return [...this.#rows.known].flatMap(([id, row]) => (row?.ready ? [id] : []))
  }

  /** A task with its times. */
  row(id: string): TaskRow | undefined {
    return this.#rows.get(id)
  }

  /** The tasks of a pipeline that was read. */
  of({ tasks }: Pipeline): Task[] {
    return tasks.flatMap((id) => this.ifRead(id) ?? [])
  }

  /** A task that others need, as it is in this round. */
  need(id: string): Task | undefined {
    return this.#rows.known.has(id) ? this.known(id) : this.#needs.get(id)?.task
  }

  /** A removed task, as the tasks that need it see it: its result no longer exists, but its outcome is known. */
  removedNeed(id: string): WorkItem | undefined {
    const removed = this.#removed.get(id)
    if (!removed) return undefined
    const isDone = removed.state === 'COMPLETED' || removed.state === 'APPROVED'
    return {
      id,
      needs: [],
      ...(isDone
        ? { state: 'done' }
        : { state: 'dead', ...(removed.state === 'CANCELLED' ? { cancelled: true } : {}), why: removedWords(removed) }),
    }
  }

  /** The task that an agent has. */
  heldBy(agent: string): HeldTask | undefined {
    const id = this.#held.get(agent)
    const task = id === undefined ? undefined : this.known(id)
    return task && isHeld(task) ? task : undefined
  }

  add(task: QueuedTask): void {
    this.#put(task, this.#ledger.steady)
    const { notes: _notes, history, tries: _tries, ...set } = task
    this.#consequences.publish({ type: 'task', id: task.id, set, step: history[0] })
  }

  /** Replaces a task by its next state; the published change is the difference between the two. */
  replace<T extends Task>(next: T): T {
    const row = this.#rows.get(next.id)
    if (!row || row.task === next) return next
    const { task: before } = row
    const isTouched = before.history !== next.history || before.heard !== next.heard
    this.#put(next, isTouched ? this.#ledger.steady : row.touched)
    if (next.pipeline) this.#consequences.moved.add(next.pipeline.id)
    const change = difference(before, next)
    if (change.note) this.#notes.push({ task: next.id, note: change.note })
    this.#consequences.publish(change)
    return next
  }

  /** Changes a note, even one that is no longer part of the task. */
  renote(task: Task, note: TaskNote): void {
    if (task.notes.some(({ number }) => number === note.number)) {
      this.replace(addNote(task, note))
      return
    }
    this.#notes.push({ task: task.id, note })
    this.#consequences.publish({ type: 'task', id: task.id, set: {}, note })
  }

  /** Notes that a queued task that was due has been checked: it is checked again when something that it waits for changes. */
  looked(id: string): void {
    const row = this.#rows.get(id)
    if (!row) return
    const { due: _, ...rest } = row
    this.#rows.put(id, rest)
  }

  /** Notes that a queued task waits for nothing but an agent. */
  readied(task: QueuedTask): void {
    const row = this.#rows.get(task.id)
    if (!row) return
    this.#consequences.callsAgents = true
    this.#consequences.unsure.delete(task.id)
    const { due: _, ...rest } = row
    // A task's waiting time begins when it waits for nothing but an agent.
    if (!row.ready) this.#rows.put(task.id, { ...rest, ready: true, touched: this.#ledger.steady })
  }

  /** Marks a queued task to be checked again, because its pipeline may have been paused or resumed. */
  reconsider(id: string): void {
    const row = this.#rows.known.get(id)
    if (row?.task.state === 'QUEUED') this.#put(row.task, row.touched)
  }

  /** The rows and the notes that have changed since the last call. */
  takeChanged(): { tasks: TaskRow[]; notes: { task: string; note: TaskNote }[] } {
    return { tasks: this.#rows.takeChanged().rows, notes: this.#notes.splice(0) }
  }

  /** Notes which agent has each of the tasks that were not known yet. */
  #hold(rows: readonly TaskRow[]): readonly TaskRow[] {
    for (const { task } of rows) if (!this.#rows.known.has(task.id) && isHeld(task)) this.#held.set(task.agent, task.id)
    return rows
  }

  #put(task: Task, touched: number): void {
    const before = this.ifRead(task.id)
    const isFree = task.state === 'QUEUED' && task.needs.length === 0 && !task.pipeline
    const due = dueOf(task, touched)
    this.#rows.put(task.id, defined({ task, touched, ready: isFree, due }))
    this.#consequences.dueAt(due, this.#ledger.steady)
    this.#consequences.dueAt(deadlineOf(task), this.#ledger.now)
    if (before?.agent !== undefined && this.#held.get(before.agent) === task.id) this.#held.delete(before.agent)
    if (isHeld(task)) this.#held.set(task.agent, task.id)
    else if (before && isHeld(before)) this.#consequences.hasFreed = true
    if (isFree) this.#consequences.callsAgents = true
    else if (task.state === 'QUEUED') this.#consequences.unsure.add(task.id)
    else if (isFinished(task) && !(before && isFinished(before))) this.#consequences.over.add(task.id)
  }
}

/** When a task must be checked again: when its agent has been silent for too long, or when the pause before a retry is over. */
function dueOf(task: Task, touched: number): number | undefined {
  if (isHeld(task)) return touched + leaseMs(task)
  const pause = task.state === 'QUEUED' ? task.pipeline?.pause : undefined
  return pause?.since === task.moved ? touched + pause.ms : undefined
}

/** Describes how one state of a task became the next: the fields that were set and unset, the new note and the new step. */
function difference(before: Task, next: Task) {
  const { notes, history, tries = [], ...fields } = next
  const old: Record<string, unknown> = before
  const set = Object.fromEntries(Object.entries(fields).filter(([key, value]) => value !== old[key]))
  const keys = ['why', 'agent', 'heard', 'question', 'options', 'result', 'wish', 'cap', 'allowed', 'merging'] as const
  const unset = keys.filter((key) => before[key] !== undefined && next[key] === undefined)
  return defined({
    type: 'task' as const,
    id: next.id,
    set,
    unset: unset.length > 0 ? unset : undefined,
    note: notes === before.notes ? undefined : notes.findLast((each) => !before.notes.includes(each)),
    step: history === before.history ? undefined : history.at(-1),
    try: tries.findLast((each) => !before.tries?.includes(each)),
  })
}
