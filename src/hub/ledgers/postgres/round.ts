import type { QueryResult } from 'pg'
import type {
  AgentRow,
  Claimable,
  ClaimQuery,
  HubChange,
  LedgerRound,
  LedgerWrites,
  PipelineRow,
  TaskRow,
} from '../../model/hub-ledger.ts'
import type { InboxMark } from '../../model/tasks/inbox.ts'
import type { MachineRules } from '../../model/tasks/machine-rules.ts'
import type { RemovedTask } from '../../model/tasks/retention.ts'
import type { Schedule } from '../../model/plans/schedule.ts'
import type { WorkspaceDay } from '../../model/tasks/spending-cap.ts'
import type { TaskState } from '../../model/tasks/task.ts'
import type { Session, Statement } from './connections.ts'
import type { StoredPipeline, StoredTask, Table } from './rows.ts'
import type { LedgerStatements, RowStatements } from './statements.ts'
import { marksOf, rememberedMs } from '../../model/tasks/retention.ts'
import { AgentCalls } from '../agent-calls.ts'
import { noteTable, removedTable } from '../ledger-tables.ts'
import { listsIn } from '../tables.ts'
import { RoundConflict } from './failures.ts'
import { PostgresReads } from './reads.ts'
import {
  agentTable,
  column,
  columnsOf,
  dayTable,
  machineTable,
  markTable,
  pipelineOf,
  pipelineTable,
  scheduleTable,
  states,
  taskOf,
  taskTable,
} from './rows.ts'
import { rowStatements } from './statements.ts'

/** The statements that write rows, for one schema. */
export const putStatements = (schema: string) => ({
  tasks: rowStatements(schema, taskTable),
  agents: rowStatements(schema, agentTable),
  pipelines: rowStatements(schema, pipelineTable),
  schedules: rowStatements(schema, scheduleTable),
  days: rowStatements(schema, dayTable),
  marks: rowStatements(schema, markTable),
  machines: rowStatements(schema, machineTable),
})

type PutStatements = ReturnType<typeof putStatements>

type RoundParts = {
  sql: LedgerStatements
  put: PutStatements
  schema: string
  /** The name of the round, by which its commit is found if the answer to it was lost. */
  id: string
  /** The channel on which other hubs get the news, and the name of this one among them. */
  channel: string
  hub: string
  /** Looks for a round whose commit was not answered; returns its first number, or undefined if it has not happened. */
  find(id: string): Promise<number | undefined>
}

/** The result of a round: the number of the last change, and whether a task or a message may wait for an agent. */
export type RoundEnd = { last: number; claimable: boolean; changed: boolean }

/** One round: a transaction whose last statements, including its commit, are sent together. */
export class PostgresRound extends PostgresReads implements LedgerRound {
  /** Set when the round is durable. */
  end: RoundEnd | undefined
  #parts: RoundParts
  /** Keys that the round looked for and that did not exist, for each table. */
  #absent = new Map<string, Set<string>>()
  /** The state of each task as the round found it, or left it. */
  #states = new Map<string, TaskState>()
  /** By how much the round changes the count of each state. */
  #counts = states.map(() => 0)
  #calls = new AgentCalls()
  #hasRows = false
  /** The answers to the statements that were sent without waiting. */
  #sent: Promise<QueryResult>[] = []
  /** The changes of the round; they get their numbers when it is over. */
  #changes: HubChange[] = []

  constructor(session: Session, parts: RoundParts) {
    super(session, { ...parts, locks: true })
    this.#parts = parts
  }

  override async tasks(ids: readonly string[]): Promise<TaskRow[]> {
    return this.#learn(this.#looked(taskTable, ids, await super.tasks(ids)))
  }

  override async agents(ids?: readonly string[]): Promise<AgentRow[]> {
    return this.#looked(agentTable, ids, await super.agents(ids))
  }

  override async pipelines(ids?: readonly string[]): Promise<PipelineRow[]> {
    return this.#looked(pipelineTable, ids, await super.pipelines(ids))
  }

  override async schedules(ids?: readonly string[]): Promise<Schedule[]> {
    return this.#looked(scheduleTable, ids, await super.schedules(ids))
  }

  override async days(workspaces?: readonly string[]): Promise<WorkspaceDay[]> {
    return this.#looked(dayTable, workspaces, await super.days(workspaces))
  }

  override async marks(keys?: readonly string[]): Promise<InboxMark[]> {
    return this.#looked(markTable, keys, await super.marks(keys))
  }

  override async machineRules(machines?: readonly string[]): Promise<MachineRules[]> {
    return this.#looked(machineTable, machines, await super.machineRules(machines))
  }

  override async held(agents?: readonly string[]): Promise<TaskRow[]> {
    const rows = await super.held(agents)
    // Without names of agents nothing is locked, and a state may change before the round writes.
    return agents ? this.#learn(rows) : rows
  }

  needs(ids: readonly string[]): Promise<TaskRow[]> {
    return this.#tasks(this.sql.needs, ids)
  }

  dependents(ids: readonly string[]): Promise<TaskRow[]> {
    return this.#tasks(this.sql.dependents, ids)
  }

  tasksOf(pipelines: readonly string[]): Promise<TaskRow[]> {
    return this.#tasks(this.sql.tasksOf, pipelines)
  }

  claim(tasks: readonly string[]): Promise<TaskRow[]> {
    return this.#tasks(this.sql.claim, tasks)
  }

  async overdue(most: number): Promise<TaskRow[]> {
    return this.#learn((await this.session.rows<StoredTask>(this.sql.overdue, [this.now, most])).map(taskOf))
  }

  async expired(keptMs: number, most: number): Promise<TaskRow[]> {
    const rows = await this.session.rows<StoredTask>(this.sql.expired, [this.steady - keptMs, most])
    return this.#learn(rows.map(taskOf))
  }

  async needed(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return []
    const rows = await this.session.rows<{ id: string }>(this.sql.needed, [ids.map(column)])
    const needed = new Set(rows.map(({ id }) => id))
    return ids.filter((id) => needed.has(column(id)))
  }

  async overduePipelines(): Promise<PipelineRow[]> {
    return (await this.session.rows<StoredPipeline>(this.sql.overduePipelines, [this.now])).map(pipelineOf)
  }

  async dueSchedules(): Promise<Schedule[]> {
    const rows = await this.session.rows<{ schedule: string }>(this.sql.dueSchedules, [this.now])
    return rows.map(({ schedule }) => JSON.parse(schedule) as Schedule)
  }

  async called(agents: readonly string[]): Promise<string[]> {
    if (agents.length === 0) return []
    const rows = await this.session.rows<{ id: string }>(this.sql.called, [agents.map(column)])
    const called = new Set(rows.map(({ id }) => id))
    return agents.filter((id) => called.has(column(id)))
  }

  call(): void {
    this.#calls.call()
  }

  async claimable(query: ClaimQuery): Promise<Claimable[]> {
    const { agents, stopped, except, wishedBefore, awayBefore, most } = query
    if (agents.length === 0 || most <= 0) return []
    const rows = await this.session.rows<ClaimRow>(this.sql.claimable, [
      agents.map(column),
      stopped.map(column),
      except.map(column),
      this.steady,
      wishedBefore,
      awayBefore,
      most,
    ])
    const kinds = new Map<string, string[]>()
    return rows.flatMap(({ id, kind, agents: places, only_wished }): Claimable[] => {
      if (id === null) {
        kinds.set(
          kind,
          places!.map((place) => agents[place - 1]!),
        )
        return []
      }
      const may = kinds.get(kind)!
      // The agent that a task is meant for comes first.
      return [{ task: id, agents: only_wished ? may.slice(0, 1) : may }]
    })
  }

  /** Sends rows without waiting: statements are answered in their order, and a failure shows at the end of the round. */
  async write(writes: LedgerWrites): Promise<HubChange[]> {
    const { sql, put } = this.#parts
    const { tasks, agents, gone, pipelines, schedules, unscheduled, days, marks, machines, notes, changes } = writes
    const { removed, removedPipelines } = writes
    this.#calls.wrote(writes)
    this.#hasRows = true
    await this.#count(tasks)
    this.#put(put.tasks, taskTable, tasks)
    this.#put(put.agents, agentTable, agents)
    this.#put(put.pipelines, pipelineTable, pipelines)
    this.#put(put.schedules, scheduleTable, schedules)
    this.#put(put.days, dayTable, days)
    this.#put(put.marks, markTable, marks)
    this.#put(put.machines, machineTable, machines)
    if (notes.length > 0) this.#send(sql.putNotes, listsIn(noteTable, notes))
    if (gone.length > 0) this.#send(sql.dropAgents, [gone.map(column)])
    if (unscheduled.length > 0) this.#send(sql.dropSchedules, [unscheduled.map(column)])
    if (removed.length > 0) this.#remove(removed)
    if (removedPipelines.length > 0) this.#send(sql.dropPipelines, [removedPipelines.map(column)])
    const numbered: HubChange[] = changes.map((change) => ({ seq: NaN, ...change }))
    this.#changes.push(...numbered)
    return numbered
  }

  /** Waits for the answers to everything that was sent; throws the first failure, which is the cause of the others. */
  async answers(): Promise<QueryResult[]> {
    const settled = await Promise.allSettled(this.#sent)
    const failed = settled.find((each) => each.status === 'rejected')
    if (failed) throw failed.reason
    return settled.map((each) => (each as PromiseFulfilledResult<QueryResult>).value)
  }

  /**
   * Ends the round. The counting of changes and the commit are sent together with the last rows, because other rounds wait for the counter
   * until the commit.
   */
  async over(): Promise<void> {
    const { id, channel, hub, find } = this.#parts
    const isCounted = this.#counts.some((count) => count !== 0)
    if (this.#changes.length > 0) {
      const texts = this.#changes.map(({ seq: _, ...change }) => JSON.stringify(change))
      const told = ` ${this.#calls.isCalling ? 1 : 0} ${hub}`
      this.#send(this.sql.putChanges, [texts, id, channel, told, this.#counts])
    } else if (isCounted) this.#send(this.sql.count, [this.#counts])
    this.#send(this.#hasRows ? 'COMMIT' : 'ROLLBACK')
    const first = await this.answers().then(
      (answers) => {
        if (this.#hasRows && answers.at(-1)!.command !== 'COMMIT') throw new RoundConflict('the round was rolled back')
        return this.#changes.length === 0 ? this.seq + 1 : Number((answers.at(-2)!.rows[0] as { seq: string }).seq)
      },
      async (error: unknown) => {
        if (!this.session.isLost || !this.#hasRows) throw error
        const found = await find(id)
        if (found === undefined) throw error
        return found
      },
    )
    for (const [at, change] of this.#changes.entries()) change.seq = first + at
    const last = first + this.#changes.length - 1
    this.end = { last, claimable: this.#calls.isCalling, changed: this.#changes.length > 0 }
  }

  /**
   * Sends rows. A row that the round looked for in vain is inserted: if another round has made it since, the insertion fails, and the round
   * is repeated with that row.
   */
  #put<Row>({ insert, replace }: RowStatements, table: Table<Row>, rows: readonly Row[]): void {
    if (rows.length === 0) return
    const absent = this.#absent.get(table.name)
    const isNew = (row: Row) => absent?.has(table.id(row)) === true
    const [made, changed] = [rows.filter(isNew), rows.filter((row) => !isNew(row))]
    for (const row of made) absent?.delete(table.id(row))
    if (made.length > 0) this.#send(insert, columnsOf(table, made))
    if (changed.length > 0) this.#send(replace, columnsOf(table, changed))
  }

  #remove(removed: readonly RemovedTask[]): void {
    const { sql } = this.#parts
    const keys = removed.map(({ id }) => column(id))
    this.#send(sql.dropTasks, [keys])
    this.#send(sql.dropMarks, [keys.flatMap(marksOf)])
    this.#send(sql.putRemoved, listsIn(removedTable, removed))
    this.#send(sql.forgetRemoved, [this.now - rememberedMs])
    for (const { id, state } of removed) {
      this.#counts[states.indexOf(state)]!--
      this.#states.delete(id)
    }
  }

  #send(statement: Statement | string, values: unknown[] = []): void {
    const answer = this.session.run(statement, values)
    answer.catch(() => {})
    this.#sent.push(answer)
  }

  async #tasks(statement: Statement, keys: readonly string[]): Promise<TaskRow[]> {
    if (keys.length === 0) return []
    return this.#learn((await this.session.rows<StoredTask>(statement, [keys.map(column)])).map(taskOf))
  }

  #learn(rows: TaskRow[]): TaskRow[] {
    for (const { task } of rows) if (!this.#states.has(task.id)) this.#states.set(task.id, task.state)
    return rows
  }

  /** Counts the tasks that are new or have another state now. */
  async #count(rows: readonly TaskRow[]): Promise<void> {
    const absent = this.#absent.get('tasks')
    const unread = rows.flatMap(({ task: { id } }) => (this.#states.has(id) || absent?.has(id) ? [] : [column(id)]))
    if (unread.length > 0)
      for (const { id, state } of await this.session.rows<{ id: string; state: TaskState }>(this.sql.states, [unread]))
        this.#states.set(id, state)
    for (const { task } of rows) {
      const before = this.#states.get(task.id)
      if (before === task.state) continue
      if (before !== undefined) this.#counts[states.indexOf(before)]!--
      this.#counts[states.indexOf(task.state)]!++
      this.#states.set(task.id, task.state)
    }
  }

  /** Remembers which of the wanted rows do not exist. */
  #looked<Row>(table: Table<Row>, wanted: readonly string[] | undefined, rows: Row[]): Row[] {
    if (wanted === undefined || wanted.length === rows.length) return rows
    const there = new Set(rows.map((row) => table.id(row)))
    const absent = this.#absent.get(table.name) ?? new Set()
    for (const key of wanted) if (!there.has(key)) absent.add(key)
    this.#absent.set(table.name, absent)
    return rows
  }
}

type ClaimRow = { id: string | null; kind: string; agents: number[] | null; only_wished: boolean | null }
