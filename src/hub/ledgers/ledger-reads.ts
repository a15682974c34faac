import type { AgentRow, PipelineRow, TaskQuery, TaskRow } from '../model/hub-ledger.ts'
import type { Schedule } from '../model/plans/schedule.ts'
import type { InboxMark } from '../model/tasks/inbox.ts'
import type { MachineRules } from '../model/tasks/machine-rules.ts'
import type { RemovedTask } from '../model/tasks/removed-tasks.ts'
import type { WorkspaceDay } from '../model/tasks/spending-cap.ts'
import type { TaskNote } from '../model/tasks/task-note.ts'
import type { TaskState } from '../model/tasks/task.ts'
import type { DatabaseKind, SqlValue, Table } from './tables.ts'
import { heldStates } from '../model/hub-ledger.ts'
import {
  agentTable,
  dayTable,
  machineTable,
  markTable,
  noteTable,
  pipelineTable,
  removedTable,
  scheduleTable,
  tailOf,
  taskTable,
} from './ledger-tables.ts'
import { keyColumn, keyColumns, keyValues } from './tables.ts'

/** Selects the rows of one table. */
export type RowQuery = {
  /** Only rows whose column has one of these values, which precede the other values of the query. */
  in?: { column: string; values: readonly string[] }
  /** A condition, with `?` for each of the values. */
  where?: string
  /** The order of the rows, and how many are read. Rows that are selected by a list of values have the order of their keys. */
  order?: string
  values?: readonly SqlValue[]
  /** How a round locks the rows, if other rounds can run in the same database at the same time. */
  lock?: 'UPDATE' | 'SHARE' | 'UPDATE SKIP LOCKED'
}

/** A list of tasks: its conditions with their values, the states to choose from, and its greatest length. */
export type TaskList = {
  conditions: readonly string[]
  values: readonly SqlValue[]
  states?: readonly TaskState[] | undefined
  /** The condition that has its own index, if few tasks meet it: then there is no need to read each state separately. */
  few?: 'merging' | 'mentions' | 'pipeline' | 'like' | undefined
  most?: number | undefined
}

const stateList = (states: readonly TaskState[]) => states.map((state) => `'${state}'`).join(', ')

/** The condition for tasks that an agent has now. */
export const isHeld = `state IN (${stateList(heldStates)})`

/** The order of lists of tasks. */
export const newestFirst = 'ORDER BY created DESC, id DESC'

/** The condition for tasks in some states. */
export const inStates = (states: readonly TaskState[]) =>
  states.length === 0 ? '1 = 0' : `state IN (${stateList([...new Set(states)])})`

/** The reads of a ledger that are the same in SQLite and PostgreSQL. */
export abstract class LedgerReads {
  abstract readonly now: number
  protected abstract readonly kind: DatabaseKind

  protected abstract listed(list: TaskList): Promise<TaskRow[]>
  /** The full name of a table. */
  protected abstract table(name: string): string

  abstract select<Row>(table: Table<Row>, query: RowQuery): Promise<Row[]>

  /** The rows of a table that follow one row, in the order of their keys. */
  after<Row>(table: Table<Row>, last: Row | undefined, most: number): Promise<Row[]> {
    const keys = keyColumns(table, this.kind)
    const order = `ORDER BY ${keys.join(', ')} LIMIT ?`
    if (last === undefined) return this.select(table, { order, values: [most] })
    const where = `(${keys.join(', ')}) > (${keys.map(() => '?').join(', ')})`
    return this.select(table, { where, order, values: [...keyValues(table, this.kind, last), most] })
  }

  tasks(ids: readonly string[]): Promise<TaskRow[]> {
    return this.#byKeys(taskTable, ids)
  }

  agents(ids?: readonly string[]): Promise<AgentRow[]> {
    return this.#byKeys(agentTable, ids)
  }

  pipelines(ids?: readonly string[]): Promise<PipelineRow[]> {
    return this.#byKeys(pipelineTable, ids)
  }

  schedules(ids?: readonly string[]): Promise<Schedule[]> {
    return this.#byKeys(scheduleTable, ids)
  }

  days(workspaces?: readonly string[]): Promise<WorkspaceDay[]> {
    return this.#byKeys(dayTable, workspaces)
  }

  marks(keys?: readonly string[]): Promise<InboxMark[]> {
    return this.#byKeys(markTable, keys)
  }

  machineRules(machines?: readonly string[]): Promise<MachineRules[]> {
    return this.#byKeys(machineTable, machines)
  }

  async held(agents?: readonly string[]): Promise<TaskRow[]> {
    if (!agents) return this.select(taskTable, { where: isHeld, order: 'ORDER BY id' })
    return this.#among(taskTable, 'agent', agents, { where: isHeld, lock: 'UPDATE' })
  }

  async notes(task: string, { before = Infinity, most }: { before?: number; most: number }): Promise<TaskNote[]> {
    const rows = await this.select(noteTable, {
      where: 'task = ? AND number < ?',
      order: 'ORDER BY number DESC LIMIT ?',
      values: [task, Math.min(before, 2 ** 31 - 1), most],
    })
    return rows.map(({ note }) => note).toReversed()
  }

  removed(ids: readonly string[]): Promise<RemovedTask[]> {
    return this.#among(removedTable, 'id', ids)
  }

  async removedLike(text: string): Promise<RemovedTask[]> {
    const { where, values } = this.#like(removedTable, text)
    return this.select(removedTable, { where, values, order: 'ORDER BY id LIMIT 2' })
  }

  list({ workspace, agent, pipeline, like, merging, mentions, after, states, most }: TaskQuery): Promise<TaskRow[]> {
    const conditions: string[] = []
    const values: SqlValue[] = []
    const add = (condition: string, ...more: SqlValue[]) => {
      conditions.push(condition)
      values.push(...more)
    }
    const flag = (name: string) => (this.kind === 'sqlite' ? `${name} = 1` : name)
    if (workspace !== undefined) {
      // The index of PostgreSQL has only the beginning, because an index row has a maximum length.
      if (this.kind === 'postgres') add('left(workspace, 200) = left(?, 200)', workspace)
      add('workspace = ?', workspace)
    }
    if (agent !== undefined) add('agent = ?', agent)
    if (pipeline !== undefined) add('pipeline = ?', pipeline)
    if (like !== undefined) {
      const alike = this.#like(taskTable, like)
      add(alike.where, ...alike.values)
    }
    if (merging) add(flag('merging'))
    if (mentions) add(flag('mentions'))
    if (after) add('(created, id) < (?, ?)', after.created, after.id)
    const narrow = { merging, mentions, pipeline, like }
    const few = (Object.keys(narrow) as (keyof typeof narrow)[]).find((name) => narrow[name] !== undefined)
    return this.listed({ conditions, values, states, few, most })
  }

  needs(ids: readonly string[]): Promise<TaskRow[]> {
    return this.#among(taskTable, 'id', ids, { lock: 'SHARE' })
  }

  claim(ids: readonly string[]): Promise<TaskRow[]> {
    return this.#among(taskTable, 'id', ids, { lock: 'UPDATE SKIP LOCKED' })
  }

  async tasksOf(pipelines: readonly string[]): Promise<TaskRow[]> {
    const rows = await this.#among(taskTable, 'pipeline', pipelines, { lock: 'UPDATE' })
    return rows.toSorted((a, b) => (a.task.id < b.task.id ? -1 : 1))
  }

  overduePipelines(): Promise<PipelineRow[]> {
    return this.#overdue(pipelineTable, 'due')
  }

  dueSchedules(): Promise<Schedule[]> {
    return this.#overdue(scheduleTable, 'next')
  }

  #overdue<Row>(table: Table<Row>, column: string): Promise<Row[]> {
    const order = `ORDER BY ${keyColumn(table, this.kind)}`
    return this.select(table, { where: `${column} <= ?`, values: [this.now], order, lock: 'UPDATE SKIP LOCKED' })
  }

  #byKeys<Row>(table: Table<Row>, keys: readonly string[] | undefined): Promise<Row[]> {
    const column = keyColumn(table, this.kind)
    return keys
      ? this.#among(table, column, keys, { lock: 'UPDATE' })
      : this.select(table, { order: `ORDER BY ${column}` })
  }

  async #among<Row>(table: Table<Row>, column: string, values: readonly string[], more: RowQuery = {}): Promise<Row[]> {
    return values.length === 0 ? [] : this.select(table, { ...more, in: { column, values } })
  }

  /** The condition for rows whose id begins or ends with a text; the end is matched against the id read backwards. */
  #like<Row>({ name }: Table<Row>, text: string) {
    const tail = this.kind === 'sqlite' ? 'tail' : 'reverse(id)'
    const found = (by: string) => `SELECT id FROM ${this.table(name)} WHERE ${by} >= ? AND ${by} < ?`
    return {
      where: `id IN (${found('id')} UNION ${found(tail)})`,
      values: [text, tailOf(text)].flatMap((begin) => [begin, `${begin}\u{10ffff}`]),
    }
  }
}
