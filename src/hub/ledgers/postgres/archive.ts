import type { Clock } from '../../../base/time/clock.ts'
import type { HubInvite } from '../../model/access/hub-invite.ts'
import type { KeyRow } from '../key-book.ts'
import type { AgentRow, TaskRow } from '../../model/hub-ledger.ts'
import type { InboxMark } from '../../model/tasks/inbox.ts'
import type { ArchiveKind, ArchiveRow, LedgerArchive, TakenOver } from '../../model/ledger-archive.ts'
import type { MachineRules } from '../../model/tasks/machine-rules.ts'
import type { RemovedTask } from '../../model/tasks/retention.ts'
import type { Schedule } from '../../model/plans/schedule.ts'
import type { WorkspaceDay } from '../../model/tasks/spending-cap.ts'
import type { TaskNote } from '../../model/tasks/task-note.ts'
import type { PostgresAddress } from './address.ts'
import type { Table as LedgerTable } from '../tables.ts'
import type { Session, Statement } from './connections.ts'
import type { StoredAgent, StoredPipeline, StoredTask, Table } from './rows.ts'
import { randomUUID } from 'node:crypto'
import { isOpenInvite } from '../../model/access/hub-invite.ts'
import { heldStates } from '../../model/hub-ledger.ts'
import { noRows } from '../../model/ledger-archive.ts'
import { keyOf } from '../key-book.ts'
import { resumeMs } from '../ledger-rows.ts'
import { inviteTable, keyTable, noteTable, removedTable } from '../ledger-tables.ts'
import { insertListsText, listsIn } from '../tables.ts'
import { answerMs, archivedTexts, page, TextTaker } from './archive-texts.ts'
import { openSession } from './connections.ts'
import { ledgerFailure } from './failures.ts'
import {
  agentColumns,
  agentOf,
  agentTable,
  columnsOf,
  dayTable,
  machineTable,
  markTable,
  pipelineOf,
  pipelineTable,
  scheduleTable,
  states,
  taskColumns,
  taskOf,
  taskTable,
} from './rows.ts'
import { migrate } from './schema.ts'
import { rowStatements } from './statements.ts'

/** Reads the time of day of the database. */
const clockText = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now'

/** Opens a ledger in PostgreSQL to be read or written as a whole. */
export async function postgresArchive(address: PostgresAddress, clock: Clock): Promise<LedgerArchive> {
  await migrate(address, clock)
  const session = await openSession(address, clock, 'archive').catch((error: unknown) => {
    throw ledgerFailure(error, address.shown)
  })
  return new PostgresArchive(session, address)
}

class PostgresArchive implements LedgerArchive {
  #session: Session
  #address: PostgresAddress
  #s: string

  constructor(session: Session, address: PostgresAddress) {
    this.#session = session
    this.#address = address
    this.#s = address.schema
  }

  async *rows(): AsyncGenerator<ArchiveRow> {
    try {
      await this.#begin('ISOLATION LEVEL REPEATABLE READ READ ONLY')
      yield* this.#tasks()
      for await (const row of this.#pages<StoredAgent>('agents', agentColumns)) yield { agent: agentOf(row) }
      for await (const row of this.#pages<StoredPipeline>('pipelines', 'pipeline, due'))
        yield { pipeline: pipelineOf(row) }
      for await (const { json } of this.#json('schedules', 'schedule')) yield { schedule: json as Schedule }
      for await (const { json } of this.#json('days', 'day')) yield { day: json as WorkspaceDay }
      for await (const { json } of this.#json('marks', 'mark')) yield { mark: json as InboxMark }
      for await (const { json } of this.#json('machine_rules', 'rules')) yield { machine: json as MachineRules }
      for await (const row of this.#pages<KeyRow>('keys', 'key, used')) yield { key: keyOf(row) }
      const [{ now }] = (await this.#session.rows<{ now: number }>(clockText)) as [{ now: number }]
      for await (const { json } of this.#json('invites', 'invite'))
        if (isOpenInvite(json as HubInvite, now)) yield { invite: json as HubInvite }
      for await (const removed of this.#pages<RemovedTask>('removed_tasks', 'state, at, kept AS "keptMs"'))
        yield { removed }
      yield* archivedTexts(this.#session, this.#s)
      await this.#session.run('COMMIT')
    } catch (error) {
      throw ledgerFailure(error, this.#address.shown)
    }
  }

  async isEmpty(): Promise<boolean> {
    const [row] = await this.#session.rows<{ empty: boolean }>(
      `SELECT NOT (EXISTS (SELECT 1 FROM ${this.#s}.tasks) OR EXISTS (SELECT 1 FROM ${this.#s}.keys)
        OR EXISTS (SELECT 1 FROM ${this.#s}.pipelines) OR EXISTS (SELECT 1 FROM ${this.#s}.schedules)
        OR EXISTS (SELECT 1 FROM ${this.#s}.machine_rules) OR EXISTS (SELECT 1 FROM ${this.#s}.invites)) AS empty`,
    )
    return row!.empty
  }

  async take(rows: AsyncIterable<ArchiveRow>, { replace }: { replace: boolean }): Promise<TakenOver> {
    try {
      return await this.#take(rows, replace)
    } catch (error) {
      if (!this.#session.isLost) await this.#session.run('ROLLBACK').catch(() => {})
      throw ledgerFailure(error, this.#address.shown)
    }
  }

  close(): Promise<void> {
    return this.#session.end()
  }

  async #begin(how: string): Promise<void> {
    await this.#session.run(`BEGIN ${how}`)
    await this.#session.run(
      `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = 0`,
    )
  }

  async #take(rows: AsyncIterable<ArchiveRow>, replace: boolean): Promise<TakenOver> {
    const s = this.#s
    await this.#begin('')
    // Running hubs wait for this lock until everything is written. Then they read everything again, because the epoch has changed.
    await this.#session.run(`LOCK TABLE ${s}.ledger IN ACCESS EXCLUSIVE MODE`)
    if (replace)
      await this.#session.run(
        `TRUNCATE ${['tasks', 'notes', 'agents', 'pipelines', 'schedules', 'days', 'marks', 'machine_rules', 'changes', 'keys', 'links', 'sign_ins', 'texts', 'text_pieces', 'removed_tasks', 'invites'].map((table) => `${s}.${table}`).join(', ')}`,
      )
    const taken = await this.#put(rows)
    const counted = states.map((_, at) => `(SELECT count(*) FROM ${s}.tasks WHERE state = ($1::text[])[${at + 1}])`)
    await this.#session.run(
      `UPDATE ${s}.ledger SET epoch = $2, counts = ARRAY[${counted.join(', ')}]`,
      [states, randomUUID()],
      answerMs,
    )
    await this.#session.run(
      `SELECT pg_notify('${s}_books', ''), pg_notify('${s}_changes', (SELECT seq FROM ${s}.ledger) || ' 1 archive')`,
    )
    await this.#session.run('COMMIT', [], answerMs)
    return taken
  }

  /** Inserts rows, those of one table together; rows that exist already stay as they are. */
  async #put(rows: AsyncIterable<ArchiveRow>): Promise<TakenOver> {
    const s = this.#s
    const [now] = await this.#session.rows<{ now: number }>(clockText)
    const steady = now!.now
    const taken = noRows()
    const there = noRows()
    const batches: Record<string, Batch> = {
      task: batchOf(s, taskTable, ({ task }: { task: TaskRow }) => resumedTask(task, steady)),
      agent: batchOf(s, agentTable, ({ agent }: { agent: AgentRow }) => resumedAgent(agent, steady)),
      pipeline: batchOf(s, pipelineTable, ({ pipeline }: Of<'pipeline'>) => pipeline),
      schedule: batchOf(s, scheduleTable, ({ schedule }: Of<'schedule'>) => schedule),
      day: batchOf(s, dayTable, ({ day }: Of<'day'>) => day),
      mark: batchOf(s, markTable, ({ mark }: Of<'mark'>) => mark),
      machine: batchOf(s, machineTable, ({ machine }: Of<'machine'>) => machine),
      note: insertedBatch(s, noteTable, ({ note }: Of<'note'>) => note),
      invite: insertedBatch(s, inviteTable, ({ invite }: Of<'invite'>) => invite),
      removed: insertedBatch(s, removedTable, ({ removed }: Of<'removed'>) => removed),
      key: insertedBatch(s, keyTable, ({ key }: Of<'key'>) => key),
    }
    const flush = async (kind: ArchiveKind) => {
      const batch = batches[kind]!
      const some = batch.rows.splice(0)
      if (some.length === 0) return
      const made = await this.#session.run(`${batch.text} ON CONFLICT DO NOTHING`, batch.values(some), answerMs)
      taken[kind] += made.rowCount ?? 0
      there[kind] += some.length - (made.rowCount ?? 0)
    }
    const texts = new TextTaker(this.#session, s, taken, there)
    for await (const row of rows) {
      if ('text' in row) await texts.begin(row.text)
      else if ('piece' in row) await texts.add(row.piece)
      else {
        const kind = (Object.keys(batches) as ArchiveKind[]).find((each) => each in row)
        if (!kind) continue
        if (batches[kind]!.rows.push(row) >= page) await flush(kind)
      }
    }
    await texts.end()
    for (const kind of Object.keys(batches) as ArchiveKind[]) await flush(kind)
    return { taken, there }
  }

  async *#tasks(): AsyncGenerator<ArchiveRow> {
    for await (const { id, ...row } of this.#pages<StoredTask>('tasks', taskColumns)) {
      const task = taskOf(row)
      yield { task }
      if ((task.task.noted ?? 0) === 0) continue
      const notes = await this.#session.rows<{ note: string }>(
        `SELECT note FROM ${this.#s}.notes WHERE task = $1 ORDER BY number`,
        [id],
      )
      for (const { note } of notes) yield { note: { task: task.task.id, note: JSON.parse(note) as TaskNote } }
    }
  }

  /** The rows of a table in the order of their keys, page by page. */
  async *#pages<Row>(table: string, columns: string): AsyncGenerator<Row & { id: string }> {
    const text = `SELECT id, ${columns} FROM ${this.#s}.${table} WHERE id > $1 ORDER BY id LIMIT ${page}`
    for (let last: string | undefined = ''; last !== undefined;) {
      const rows: (Row & { id: string })[] = (await this.#session.run(text, [last], answerMs)).rows
      yield* rows
      last = rows.length < page ? undefined : rows.at(-1)?.id
    }
  }

  /** The values of a table that are JSON, in the order of their keys. */
  async *#json(table: string, column: string): AsyncGenerator<{ json: unknown }> {
    for await (const { json } of this.#pages<{ json: string }>(table, `${column} AS json`))
      yield { json: JSON.parse(json) }
  }
}

type Of<K extends ArchiveKind> = Extract<ArchiveRow, Record<K, unknown>>

/** Rows of one table that are inserted together. */
type Batch = { rows: ArchiveRow[]; text: string; values(rows: readonly ArchiveRow[]): unknown[] }

function batchOf<K extends ArchiveRow, Row>(schema: string, table: Table<Row>, pick: (row: K) => Row): Batch {
  const { text }: Statement = rowStatements(schema, table).insert
  return {
    rows: [],
    text,
    values: (rows) =>
      columnsOf(
        table,
        rows.map((row) => pick(row as K)),
      ),
  }
}

function insertedBatch<K extends ArchiveRow, Row>(
  schema: string,
  table: LedgerTable<Row>,
  pick: (row: K) => Row,
): Batch {
  return {
    rows: [],
    text: insertListsText(table, schema),
    values: (rows) =>
      listsIn(
        table,
        rows.map((row) => pick(row as K)),
      ),
  }
}

/** A restored task. Its agent gets some time to report again, because it could not reach a hub in the meantime. */
function resumedTask(row: TaskRow, steady: number): TaskRow {
  const { state } = row.task
  if (!heldStates.includes(state)) return { ...row, touched: Math.min(row.touched, steady) }
  const least = steady + resumeMs(state)
  return { ...row, touched: Math.min(row.touched, steady), due: Math.max(row.due ?? 0, least) }
}

/** A restored agent, which no longer waits: its connection was to another hub. */
function resumedAgent({ wait: _, ...row }: AgentRow, steady: number): AgentRow {
  return { ...row, heard: Math.min(row.heard, steady) }
}
