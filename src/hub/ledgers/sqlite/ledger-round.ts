import type {
  Claimable,
  ClaimQuery,
  HubChange,
  LedgerLook,
  LedgerRound,
  LedgerWrites,
  TaskRow,
} from '../../model/hub-ledger.ts'
import type { RowQuery, TaskList } from '../ledger-reads.ts'
import type { Table } from '../tables.ts'
import type { AgentTable } from './agent-table.ts'
import type { ChangeTable } from './change-table.ts'
import type { ReadyTasks } from './ready-tasks.ts'
import type { SqliteRows } from './sqlite-rows.ts'
import type { TaskTable } from './task-table.ts'
import { AgentCalls, isCalled } from '../agent-calls.ts'
import { LedgerReads } from '../ledger-reads.ts'
import { sideWrites } from '../ledger-tables.ts'

/** The tables of a ledger; `rows` accesses the tables that have no class of their own. */
export type LedgerTables = {
  rows: SqliteRows
  tasks: TaskTable
  agents: AgentTable
  ready: ReadyTasks
  changes: ChangeTable
}

/** The number and the times that identify one moment of the ledger. */
export type LedgerMoment = Pick<LedgerLook, 'seq' | 'epoch' | 'now' | 'steady'>

/** Runs reads or writes of the ledger; an error of them names the ledger's file. */
type Access = <T>(verb: 'read' | 'write', work: () => T) => T

/** Reads of one moment. Nothing else writes at the same time, because rounds and looks run one after another. */
export class SqliteLook extends LedgerReads implements LedgerLook {
  readonly seq: number
  readonly epoch: string
  readonly now: number
  readonly steady: number
  protected readonly kind = 'sqlite'
  protected readonly tables: LedgerTables
  protected readonly access: Access

  constructor(tables: LedgerTables, { seq, epoch, now, steady }: LedgerMoment, access: Access) {
    super()
    this.tables = tables
    this.seq = seq
    this.epoch = epoch
    this.now = now
    this.steady = steady
    this.access = access
  }

  override async agents(ids?: readonly string[]) {
    return this.read(({ agents }) => agents.rows(ids))
  }

  async counts() {
    return this.read(({ tasks }) => tasks.counts())
  }

  async heldOn(machines: readonly string[]) {
    return this.read(({ ready }) => {
      const held = ready.heldOn()
      return machines.map((machine) => ({ machine, count: held.get(machine) ?? 0 }))
    })
  }

  async select<Row>(table: Table<Row>, query: RowQuery): Promise<Row[]> {
    return this.read(({ rows }) => rows.select(table, query))
  }

  protected async listed(list: TaskList): Promise<TaskRow[]> {
    return this.read(({ tasks }) => tasks.list(list))
  }

  protected table(name: string): string {
    return name
  }

  protected read<T>(work: (tables: LedgerTables) => T): T {
    return this.access('read', () => work(this.tables))
  }
}

/** A round. Its first write begins a transaction, which the ledger ends when the work of the round is over. */
export class SqliteRound extends SqliteLook implements LedgerRound {
  #changes: HubChange[] = []
  #calls = new AgentCalls()
  #failure: { error: unknown } | undefined

  /** The error of a write. After it nothing of the round is stored, even if the round's work ignores the error. */
  get failure(): { error: unknown } | undefined {
    return this.#failure
  }

  /** The changes of the round. */
  get changes(): readonly HubChange[] {
    return this.#changes
  }

  /** Whether the round leaves a task or a message for an agent. */
  get callsAgents(): boolean {
    return this.#calls.isCalling
  }

  async dependents(ids: readonly string[]) {
    return this.read(({ tasks }) => tasks.dependents(ids))
  }

  async overdue(most: number) {
    return this.read(({ tasks }) => tasks.overdue(this, most))
  }

  async expired(keptMs: number, most: number) {
    return this.read(({ tasks }) => tasks.expired(this.steady - keptMs, most))
  }

  async needed(ids: readonly string[]) {
    return this.read(({ tasks }) => tasks.needed(ids))
  }

  async called(ids: readonly string[]): Promise<string[]> {
    return this.tables.agents.rows(ids).flatMap(({ agent }) => (isCalled(agent) ? [agent.id] : []))
  }

  call(): void {
    this.#calls.call()
  }

  async claimable(query: ClaimQuery): Promise<Claimable[]> {
    return this.read(({ ready }) => ready.claimable(query, this.steady))
  }

  async write(writes: LedgerWrites): Promise<HubChange[]> {
    try {
      return this.access('write', () => this.#write(writes))
    } catch (error) {
      this.#failure = { error }
      throw error
    }
  }

  #write(writes: LedgerWrites): HubChange[] {
    const { rows: stored, tasks, agents, changes } = this.tables
    for (const row of writes.tasks) tasks.put(row)
    for (const row of writes.agents) agents.put(row)
    for (const id of writes.gone) agents.remove(id)
    for (const { table, rows, gone } of sideWrites(writes)) {
      for (const row of rows) stored.put(table, row)
      for (const key of gone) stored.remove(table, key)
    }
    tasks.remove(writes.removed)
    const numbered = changes.append(writes.changes, this.seq + this.#changes.length)
    this.#changes.push(...numbered)
    this.#calls.wrote(writes)
    return numbered
  }
}
