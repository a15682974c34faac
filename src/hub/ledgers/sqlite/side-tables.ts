import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { InboxMark } from '../../model/tasks/inbox.ts'
import type { MachineRules } from '../../model/tasks/machine-rules.ts'
import type { HubChange, LedgerWrites, NewChange, PipelineRow } from '../../model/hub-ledger.ts'
import type { Pipeline } from '../../model/tasks/pipeline.ts'
import type { Schedule } from '../../model/plans/schedule.ts'
import type { WorkspaceDay } from '../../model/tasks/spending-cap.ts'
import type { TaskNote } from '../../model/tasks/task-note.ts'
import { nextRunOf } from '../../model/hub-ledger.ts'
import { markKey } from '../../model/tasks/inbox.ts'
import { noteTable } from '../ledger-tables.ts'
import { insertText, replacing, valuesIn } from '../tables.ts'

/** How many changes are stored by default for followers that fell behind; a follower that is further behind reads everything again. */
const usualChanges = 50_000
/** Old changes are deleted each time this many new ones were stored. */
const sweepEvery = 1_000

const statements = {
  pipeline: 'SELECT pipeline AS text, due FROM pipelines WHERE id = ?',
  pipelines: 'SELECT pipeline AS text, due FROM pipelines ORDER BY id',
  duePipelines: 'SELECT pipeline AS text, due FROM pipelines WHERE due <= ? ORDER BY due, id',
  nextPipeline: 'SELECT due AS at FROM pipelines WHERE due IS NOT NULL ORDER BY due LIMIT 1',
  putPipeline: 'INSERT OR REPLACE INTO pipelines (id, pipeline, due) VALUES (?, ?, ?)',
  schedule: 'SELECT schedule AS text FROM schedules WHERE id = ?',
  schedules: 'SELECT schedule AS text FROM schedules ORDER BY id',
  dueSchedules: 'SELECT schedule AS text FROM schedules WHERE next <= ? ORDER BY next, id',
  nextSchedule: 'SELECT next AS at FROM schedules WHERE next IS NOT NULL ORDER BY next LIMIT 1',
  putSchedule: 'INSERT OR REPLACE INTO schedules (id, schedule, next) VALUES (?, ?, ?)',
  removePipeline: 'DELETE FROM pipelines WHERE id = ?',
  removeSchedule: 'DELETE FROM schedules WHERE id = ?',
  day: 'SELECT day AS text FROM days WHERE workspace = ?',
  days: 'SELECT day AS text FROM days ORDER BY workspace',
  putDay: 'INSERT OR REPLACE INTO days (workspace, day) VALUES (?, ?)',
  mark: 'SELECT mark AS text FROM marks WHERE id = ?',
  marks: 'SELECT mark AS text FROM marks ORDER BY id',
  putMark: 'INSERT OR REPLACE INTO marks (id, mark) VALUES (?, ?)',
  machine: 'SELECT rules AS text FROM machine_rules WHERE machine = ?',
  machines: 'SELECT rules AS text FROM machine_rules ORDER BY machine',
  putMachine: 'INSERT OR REPLACE INTO machine_rules (machine, rules) VALUES (?, ?)',
  notes: 'SELECT note AS text FROM notes WHERE task = ? AND number < ? ORDER BY number DESC LIMIT ?',
  putNote: `${insertText(noteTable, 'sqlite')} ${replacing(noteTable, 'sqlite')}`,
  firstChange: 'SELECT min(seq) AS seq FROM changes',
  lastChange: 'SELECT max(seq) AS seq FROM changes',
  changes: 'SELECT change AS text FROM changes WHERE seq > ? ORDER BY seq LIMIT ?',
  putChange: 'INSERT INTO changes (seq, change) VALUES (?, ?)',
  sweepChanges: 'DELETE FROM changes WHERE seq <= ?',
} as const

type Stored = { text: string }
type StoredPipeline = Stored & { due: number | null }

/**
 * Everything in the ledger except its tasks, agents, keys and sign-ins: pipelines, schedules, days, marks, rules of machines, notes and
 * changes.
 */
export class SideTables {
  #sql: Record<keyof typeof statements, StatementSync>
  #mostChanges: number

  constructor(db: DatabaseSync, mostChanges = usualChanges) {
    this.#mostChanges = mostChanges
    const prepared = Object.entries(statements).map(([name, sql]) => [name, db.prepare(sql)])
    this.#sql = Object.fromEntries(prepared) as Record<keyof typeof statements, StatementSync>
  }

  pipelines(ids?: readonly string[]): PipelineRow[] {
    return this.#stored<StoredPipeline>('pipeline', 'pipelines', ids).map(pipelineOf)
  }

  duePipelines(now: number): PipelineRow[] {
    return (this.#sql.duePipelines.all(now) as StoredPipeline[]).map(pipelineOf)
  }

  putPipeline({ pipeline, due }: PipelineRow): void {
    this.#sql.putPipeline.run(pipeline.id, JSON.stringify(pipeline), due ?? null)
  }

  schedules(ids?: readonly string[]): Schedule[] {
    return this.#stored('schedule', 'schedules', ids).map(parsed<Schedule>)
  }

  dueSchedules(now: number): Schedule[] {
    return (this.#sql.dueSchedules.all(now) as Stored[]).map(parsed<Schedule>)
  }

  putSchedule(schedule: Schedule): void {
    this.#sql.putSchedule.run(schedule.id, JSON.stringify(schedule), nextRunOf(schedule) ?? null)
  }

  days(workspaces?: readonly string[]): WorkspaceDay[] {
    return this.#stored('day', 'days', workspaces).map(parsed<WorkspaceDay>)
  }

  marks(keys?: readonly string[]): InboxMark[] {
    return this.#stored('mark', 'marks', keys).map(parsed<InboxMark>)
  }

  machineRules(machines?: readonly string[]): MachineRules[] {
    return this.#stored('machine', 'machines', machines).map(parsed<MachineRules>)
  }

  notes(task: string, { before = Number.MAX_SAFE_INTEGER, most }: { before?: number; most: number }): TaskNote[] {
    return (this.#sql.notes.all(task, before, most) as Stored[]).map(parsed<TaskNote>).toReversed()
  }

  putNote(note: LedgerWrites['notes'][number]): void {
    this.#sql.putNote.run(...valuesIn(noteTable, 'sqlite', note))
  }

  /** When the next pipeline or schedule is due, by the time of day. */
  nextDue(): number | undefined {
    const next = [this.#sql.nextPipeline, this.#sql.nextSchedule].map((sql) => sql.get() as { at: number } | undefined)
    const times = next.flatMap((row) => row?.at ?? [])
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Stores everything of a round that belongs to these tables. */
  write({ pipelines, removedPipelines, schedules, unscheduled, days, marks, machines, notes }: LedgerWrites): void {
    for (const row of pipelines) this.putPipeline(row)
    for (const id of removedPipelines) this.#sql.removePipeline.run(id)
    for (const schedule of schedules) this.putSchedule(schedule)
    for (const id of unscheduled) this.#sql.removeSchedule.run(id)
    for (const day of days) this.#sql.putDay.run(day.workspace, JSON.stringify(day))
    for (const mark of marks) this.#sql.putMark.run(markKey(mark), JSON.stringify(mark))
    for (const rules of machines) this.#sql.putMachine.run(rules.machine, JSON.stringify(rules))
    for (const note of notes) this.putNote(note)
  }

  /** The number of the last change. */
  lastChange(): number {
    return (this.#sql.lastChange.get() as { seq: number | null }).seq ?? 0
  }

  /** Stores changes under the next numbers; returns them with their numbers. */
  append(changes: readonly NewChange[], last: number): HubChange[] {
    return changes.map((change, at) => {
      const seq = last + at + 1
      const numbered: HubChange = { seq, ...change }
      this.#sql.putChange.run(seq, JSON.stringify(numbered))
      if (seq % sweepEvery === 0) this.#sql.sweepChanges.run(seq - this.#mostChanges)
      return numbered
    })
  }

  /** The changes after a number, oldest first; undefined if some of them are no longer stored, or the number was never assigned. */
  since(seq: number, most: number): HubChange[] | undefined {
    const first = (this.#sql.firstChange.get() as { seq: number | null }).seq ?? 1
    if (first > seq + 1 || seq > this.lastChange()) return undefined
    return (this.#sql.changes.all(seq, most) as Stored[]).map(parsed<HubChange>)
  }

  #stored<S = Stored>(one: keyof typeof statements, all: keyof typeof statements, ids?: readonly string[]): S[] {
    if (!ids) return this.#sql[all].all() as S[]
    return [...new Set(ids)].flatMap((id) => (this.#sql[one].get(id) as S | undefined) ?? [])
  }
}

const parsed = <T>({ text }: Stored) => JSON.parse(text) as T

function pipelineOf({ text, due }: StoredPipeline): PipelineRow {
  const pipeline = JSON.parse(text) as Pipeline
  return due === null ? { pipeline } : { pipeline, due }
}
