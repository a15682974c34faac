import type { InboxMark } from '../../model/tasks/inbox.ts'
import type { AgentRow, LedgerLook, PipelineRow, TaskQuery, TaskRow } from '../../model/hub-ledger.ts'
import type { MachineRules } from '../../model/tasks/machine-rules.ts'
import type { RemovedTask } from '../../model/tasks/retention.ts'
import type { Schedule } from '../../model/plans/schedule.ts'
import type { WorkspaceDay } from '../../model/tasks/spending-cap.ts'
import type { TaskNote } from '../../model/tasks/task-note.ts'
import type { TaskState } from '../../model/tasks/task.ts'
import type { Session, Statement } from './connections.ts'
import type { StoredAgent, StoredPipeline, StoredTask } from './rows.ts'
import type { LedgerStatements } from './statements.ts'
import { createHash } from 'node:crypto'
import { agentOf, column, pipelineOf, states, taskColumns, taskOf } from './rows.ts'
import { statement } from './statements.ts'

/** The first answer of a transaction. */
export type Head = { seq: string; epoch: string; now: number }

/** A read of rows by their keys, or of all of them. */
type ByKeys = { all: Statement; look: Statement; lock: Statement }

/** Reads of one transaction. A round locks the rows that it reads by their keys, so that nobody else can change them. */
export class PostgresReads implements LedgerLook {
  protected readonly session: Session
  protected readonly sql: LedgerStatements
  readonly #schema: string
  readonly #locks: boolean
  #head: Head | undefined

  constructor(session: Session, at: { sql: LedgerStatements; schema: string; locks: boolean }) {
    this.session = session
    this.sql = at.sql
    this.#schema = at.schema
    this.#locks = at.locks
  }

  /** Takes over the answer to the first statement of the transaction, with its time and number. */
  begin(head: Head): this {
    this.#head = head
    return this
  }

  get seq(): number {
    return Number(this.#begun.seq)
  }

  get epoch(): string {
    return epochOf(this.#begun.epoch, this.session)
  }

  get now(): number {
    return this.#begun.now
  }

  get steady(): number {
    return this.#begun.now
  }

  get #begun(): Head {
    if (!this.#head)
      throw new Error('the time and the number of a round are not known before its beginning was answered')
    return this.#head
  }

  async tasks(ids: readonly string[]): Promise<TaskRow[]> {
    return (await this.byKeys<StoredTask>(this.sql.tasks, ids)).map(taskOf)
  }

  async list(query: TaskQuery): Promise<TaskRow[]> {
    const { text, values } = listText(this.#schema, query)
    const name = statement(`list`, text)
    return (await this.session.rows<StoredTask>(name, values)).map(taskOf)
  }

  async counts(): Promise<{ state: TaskState; count: number; oldest: number }[]> {
    return this.session.rows(this.sql.counts, [states])
  }

  async held(agents?: readonly string[]): Promise<TaskRow[]> {
    return (await this.byKeys<StoredTask>(this.sql.held, agents)).map(taskOf)
  }

  async agents(ids?: readonly string[]): Promise<AgentRow[]> {
    return (await this.byKeys<StoredAgent>(this.sql.agents, ids)).map(agentOf)
  }

  async pipelines(ids?: readonly string[]): Promise<PipelineRow[]> {
    return (await this.byKeys<StoredPipeline>(this.sql.pipelines, ids)).map(pipelineOf)
  }

  async schedules(ids?: readonly string[]): Promise<Schedule[]> {
    const rows = await this.byKeys<{ schedule: string }>(this.sql.schedules, ids)
    return rows.map(({ schedule }) => JSON.parse(schedule) as Schedule)
  }

  async days(workspaces?: readonly string[]): Promise<WorkspaceDay[]> {
    const rows = await this.byKeys<{ day: string }>(this.sql.days, workspaces)
    return rows.map(({ day }) => JSON.parse(day) as WorkspaceDay)
  }

  async marks(keys?: readonly string[]): Promise<InboxMark[]> {
    const rows = await this.byKeys<{ mark: string }>(this.sql.marks, keys)
    return rows.map(({ mark }) => JSON.parse(mark) as InboxMark)
  }

  async machineRules(machines?: readonly string[]): Promise<MachineRules[]> {
    const rows = await this.byKeys<{ rules: string }>(this.sql.machineRules, machines)
    return rows.map(({ rules }) => JSON.parse(rules) as MachineRules)
  }

  async heldOn(machines: readonly string[]): Promise<{ machine: string; count: number }[]> {
    const found = await this.session.rows<{ machine: string; count: number }>(this.sql.heldOn, [machines.map(column)])
    const counts = new Map(found.map(({ machine, count }) => [machine, count]))
    return machines.map((machine) => ({ machine, count: counts.get(column(machine)) ?? 0 }))
  }

  async notes(task: string, { before = 2 ** 31 - 1, most }: { before?: number; most: number }): Promise<TaskNote[]> {
    const last = Math.min(before, 2 ** 31 - 1)
    const rows = await this.session.rows<{ note: string }>(this.sql.notes, [column(task), last, most])
    return rows.map(({ note }) => JSON.parse(note) as TaskNote).toReversed()
  }

  async removed(ids: readonly string[]): Promise<RemovedTask[]> {
    return ids.length === 0 ? [] : this.session.rows<RemovedTask>(this.sql.removed, [ids.map(column)])
  }

  async removedAfter(id: string, most: number): Promise<RemovedTask[]> {
    return this.session.rows<RemovedTask>(this.sql.removedAfter, [column(id), most])
  }

  async removedLike(text: string): Promise<RemovedTask[]> {
    return this.session.rows<RemovedTask>(this.sql.removedLike, [column(text)])
  }

  /** Rows by their keys; a round locks the rows that it reads this way. */
  protected async byKeys<R>({ all, look, lock }: ByKeys, keys: readonly string[] | undefined): Promise<R[]> {
    if (keys === undefined) return this.session.rows<R>(all)
    if (keys.length === 0) return []
    return this.session.rows<R>(this.#locks ? lock : look, [keys.map(column)])
  }
}

/** The name of the series of numbers: that of the ledger, and that of the database that continues it. */
export function epochOf(ledger: string, { origin }: Session): string {
  return createHash('sha256').update(`${ledger} ${origin}`).digest('base64url').slice(0, 16)
}

/**
 * The statement of a list; there is one for each choice of filters, so that each has the plan that suits it. If a filter may match many
 * rows, each state is read on its own and newest first, so that the database reads only as many rows as the query wants.
 */
function listText(schema: string, query: TaskQuery): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const value = (each: unknown) => `$${values.push(each)}`
  const { states: wanted = states, workspace, agent, pipeline, like, merging, mentions, after, most } = query
  const asked: string[] = []
  if (workspace !== undefined) {
    const given = value(column(workspace))
    asked.push(`left(workspace, 200) = left(${given}::text, 200) AND workspace = ${given}::text`)
  }
  if (agent !== undefined) asked.push(`agent = ${value(column(agent))}`)
  if (pipeline !== undefined) asked.push(`pipeline = ${value(column(pipeline))}`)
  if (like !== undefined) {
    const given = value(column(like))
    const begins = (text: string, start: string) => `${text} >= ${start} AND ${text} < ${start} || U&'\\+10FFFF'`
    asked.push(`(${begins('id', `${given}::text`)} OR ${begins('reverse(id)', `reverse(${given}::text)`)})`)
  }
  if (merging) asked.push('merging')
  if (mentions) asked.push('mentions')
  if (after) asked.push(`(created, id) < (${value(after.created)}::float8, ${value(column(after.id))}::text)`)
  const limit = most === undefined ? '' : `LIMIT ${value(most)}`
  const order = `ORDER BY created DESC, id DESC ${limit}`
  const isFew = pipeline !== undefined || like !== undefined || merging === true || mentions === true
  const each = [...new Set(wanted)].map((state) => `state = '${state}'`)
  const read = (which: string) =>
    `(SELECT id, created, ${taskColumns} FROM ${schema}.tasks WHERE ${[which, ...asked].join(' AND ')} ${order})`
  const text =
    isFew || each.length < 2
      ? read(each.length > 0 ? `(${each.join(' OR ')})` : 'false')
      : `SELECT * FROM (${each.map(read).join(' UNION ALL ')}) t ${order}`
  return { text, values }
}
