import type { QueryResult } from 'pg'
import type { Claimable, ClaimQuery, HubChange, LedgerRound, LedgerWrites, TaskRow } from '../../model/hub-ledger.ts'
import type { RemovedTask } from '../../model/tasks/removed-tasks.ts'
import type { TaskState } from '../../model/tasks/task.ts'
import type { RowQuery } from '../ledger-reads.ts'
import type { AnyTable } from '../ledger-tables.ts'
import type { Table } from '../tables.ts'
import type { Session, Statement } from './connections.ts'
import type { LedgerStatements } from './statements.ts'
import { marksOf, rememberedMs } from '../../model/tasks/removed-tasks.ts'
import { AgentCalls } from '../agent-calls.ts'
import { agentTable, removedTable, sideWrites, taskTable } from '../ledger-tables.ts'
import { keyColumn, keyOf, listsIn, withoutNul } from '../tables.ts'
import { RoundConflict } from './failures.ts'
import { PostgresReads } from './reads.ts'
import { numbered, rowStatements, states } from './statements.ts'

type RoundParts = {
  sql: LedgerStatements
  schema: string
  /** Identifies the round, so that its commit can be found if the answer to it was lost. */
  id: string
  /** The channel on which other hubs get the announcement, and this hub's name in it. */
  channel: string
  hub: string
  /** Looks for a round whose commit was not answered; returns its first number, or undefined if the round was not committed. */
  find(id: string): Promise<number | undefined>
}

/** The result of a round: the number of the last change, and whether a task or a message may wait for an agent. */
export type RoundEnd = { last: number; claimable: boolean; changed: boolean }

/** One round: a transaction whose last statements, including its commit, are sent together. */
export class PostgresRound extends PostgresReads implements LedgerRound {
  /** Set when the round is durable. */
  end: RoundEnd | undefined
  #parts: RoundParts
  /** The keys of each table that the round looked for and did not find. */
  #absent = new Map<string, Set<string>>()
  /** The state of each task, as the round found it or has changed it. */
  #states = new Map<string, TaskState>()
  /** The change in the number of tasks in each state. */
  #counts = states.map(() => 0)
  #calls = new AgentCalls()
  #hasRows = false
  /** The answers to statements that were sent without waiting. */
  #sent: Promise<QueryResult>[] = []
  /** The changes of the round; they get their numbers when the round is over. */
  #changes: HubChange[] = []

  constructor(session: Session, parts: RoundParts) {
    super(session, { ...parts, locks: true })
    this.#parts = parts
  }

  async dependents(ids: readonly string[]): Promise<TaskRow[]> {
    return ids.length === 0 ? [] : this.#tasks(this.sql.dependents, [ids.map(withoutNul)])
  }

  overdue(most: number): Promise<TaskRow[]> {
    return this.#tasks(this.sql.overdue, [this.now, most])
  }

  expired(keptMs: number, most: number): Promise<TaskRow[]> {
    return this.#tasks(this.sql.expired, [this.steady - keptMs, most])
  }

  async needed(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return []
    const rows = await this.session.rows<{ id: string }>(this.sql.needed, [ids.map(withoutNul)])
    const needed = new Set(rows.map(({ id }) => id))
    return ids.filter((id) => needed.has(withoutNul(id)))
  }

  async called(agents: readonly string[]): Promise<string[]> {
    if (agents.length === 0) return []
    const rows = await this.session.rows<{ id: string }>(this.sql.called, [agents.map(withoutNul)])
    const called = new Set(rows.map(({ id }) => id))
    return agents.filter((id) => called.has(withoutNul(id)))
  }

  call(): void {
    this.#calls.call()
  }

  async claimable(query: ClaimQuery): Promise<Claimable[]> {
    const { agents, stopped, except, wishedBefore, awayBefore, most } = query
    if (agents.length === 0 || most <= 0) return []
    const rows = await this.session.rows<ClaimRow>(this.sql.claimable, [
      agents.map(withoutNul),
      stopped.map(withoutNul),
      except.map(withoutNul),
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

  /** Sends rows without waiting: statements are answered in order, and a failure becomes visible at the end of the round. */
  async write(writes: LedgerWrites): Promise<HubChange[]> {
    this.#calls.wrote(writes)
    this.#hasRows = true
    await this.#count(writes.tasks)
    this.#put(taskTable, writes.tasks)
    this.#put(agentTable, writes.agents)
    this.#drop(agentTable, writes.gone)
    for (const { table, rows, gone } of sideWrites(writes)) {
      this.#put(table, rows)
      this.#drop(table, gone)
    }
    if (writes.removed.length > 0) this.#remove(writes.removed)
    const changes: HubChange[] = writes.changes.map((change) => ({ seq: NaN, ...change }))
    this.#changes.push(...changes)
    return changes
  }

  /** Waits for the answers to all statements that were sent; throws the first failure, which caused the others. */
  async answers(): Promise<QueryResult[]> {
    const settled = await Promise.allSettled(this.#sent)
    const failed = settled.find((each) => each.status === 'rejected')
    if (failed) throw failed.reason
    return settled.map((each) => (each as PromiseFulfilledResult<QueryResult>).value)
  }

  /**
   * Ends the round. The changes are numbered in the same write as the last rows and the commit, because other rounds wait for the counter
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
   * Sends rows. A row that the round looked for in vain is inserted: if another round has inserted it since, this insertion fails, and
   * the round is repeated with that row.
   */
  #put<Row>(table: Table<Row>, rows: readonly Row[]): void {
    if (rows.length === 0) return
    const { insert, replace } = rowStatements(this.#parts.schema, table)
    const absent = this.#absent.get(table.name)
    const isNew = (row: Row) => absent?.has(keyOf(table, row)) === true
    const [made, changed] = [rows.filter(isNew), rows.filter((row) => !isNew(row))]
    for (const row of made) absent?.delete(keyOf(table, row))
    if (made.length > 0) this.#send(insert, listsIn(table, made))
    if (changed.length > 0) this.#send(replace, listsIn(table, changed))
  }

  #drop(table: AnyTable, keys: readonly string[]): void {
    if (keys.length === 0) return
    const text = `DELETE FROM ${this.table(table.name)} WHERE ${keyColumn(table, 'postgres')} = ANY(?)`
    this.#send(numbered(`drop ${table.name}`, text), [keys.map(withoutNul)])
  }

  #remove(removed: readonly RemovedTask[]): void {
    const { sql } = this.#parts
    const keys = removed.map(({ id }) => withoutNul(id))
    this.#send(sql.dropTasks, [keys])
    this.#send(sql.dropMarks, [keys.flatMap(marksOf)])
    this.#put(removedTable, removed)
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

  /** Notes the states of the tasks that the round locks, and which of the requested rows do not exist. */
  override async select<Row>(table: Table<Row>, query: RowQuery): Promise<Row[]> {
    const rows = await super.select(table, query)
    const { in: among, lock } = query
    if (lock && table.name === taskTable.name) this.#learn(rows as TaskRow[])
    if (lock !== 'UPDATE' || among?.column !== keyColumn(table, 'postgres')) return rows
    if (among.values.length === rows.length) return rows
    const there = new Set(rows.map((row) => keyOf(table, row)))
    const absent = this.#absent.get(table.name) ?? new Set()
    for (const key of among.values) if (!there.has(key)) absent.add(key)
    this.#absent.set(table.name, absent)
    return rows
  }

  async #tasks(statement: Statement, values: unknown[]): Promise<TaskRow[]> {
    return this.#learn((await this.session.rows(statement, values)).map((row) => taskTable.read(row)))
  }

  #learn(rows: TaskRow[]): TaskRow[] {
    for (const { task } of rows) if (!this.#states.has(task.id)) this.#states.set(task.id, task.state)
    return rows
  }

  /** Counts the tasks that are new or have a new state. */
  async #count(rows: readonly TaskRow[]): Promise<void> {
    const absent = this.#absent.get('tasks')
    const unread = rows.flatMap(({ task: { id } }) => (this.#states.has(id) || absent?.has(id) ? [] : [withoutNul(id)]))
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
}

type ClaimRow = { id: string | null; kind: string; agents: number[] | null; only_wished: boolean | null }
