import type {
  Claimable,
  ClaimQuery,
  HubChange,
  LedgerLook,
  LedgerRound,
  LedgerWrites,
  TaskQuery,
} from '../../model/hub-ledger.ts'
import type { AgentTable } from './agent-table.ts'
import type { ReadyTasks } from './ready-tasks.ts'
import type { SideTables } from './side-tables.ts'
import type { TaskTable } from './task-table.ts'
import { AgentCalls, isCalled } from '../agent-calls.ts'

/** The tables of a ledger. */
export type LedgerTables = { tasks: TaskTable; agents: AgentTable; ready: ReadyTasks; side: SideTables }

/** The number and the times of one moment of the ledger. */
export type LedgerMoment = Pick<LedgerLook, 'seq' | 'epoch' | 'now' | 'steady'>

/** Runs reads or writes of the ledger; their errors name its file. */
type Access = <T>(verb: 'read' | 'write', work: () => T) => T

/** Reads of one moment. Nothing else writes at the same time, because rounds and looks run one after the other. */
export class SqliteLook implements LedgerLook {
  readonly seq: number
  readonly epoch: string
  readonly now: number
  readonly steady: number
  protected readonly tables: LedgerTables
  protected readonly access: Access

  constructor(tables: LedgerTables, { seq, epoch, now, steady }: LedgerMoment, access: Access) {
    this.tables = tables
    this.seq = seq
    this.epoch = epoch
    this.now = now
    this.steady = steady
    this.access = access
  }

  async tasks(ids: readonly string[]) {
    return this.read(({ tasks }) => tasks.rows(ids))
  }

  async list(query: TaskQuery) {
    return this.read(({ tasks }) => tasks.list(query))
  }

  async counts() {
    return this.read(({ tasks }) => tasks.counts())
  }

  async held(agents?: readonly string[]) {
    return this.read(({ tasks }) => tasks.held(agents))
  }

  async agents(ids?: readonly string[]) {
    return this.read(({ agents }) => agents.rows(ids))
  }

  async pipelines(ids?: readonly string[]) {
    return this.read(({ side }) => side.pipelines(ids))
  }

  async schedules(ids?: readonly string[]) {
    return this.read(({ side }) => side.schedules(ids))
  }

  async days(workspaces?: readonly string[]) {
    return this.read(({ side }) => side.days(workspaces))
  }

  async marks(keys?: readonly string[]) {
    return this.read(({ side }) => side.marks(keys))
  }

  async machineRules(machines?: readonly string[]) {
    return this.read(({ side }) => side.machineRules(machines))
  }

  async heldOn(machines: readonly string[]) {
    return this.read(({ ready }) => {
      const held = ready.heldOn()
      return machines.map((machine) => ({ machine, count: held.get(machine) ?? 0 }))
    })
  }

  async notes(task: string, page: { before?: number; most: number }) {
    return this.read(({ side }) => side.notes(task, page))
  }

  async removed(ids: readonly string[]) {
    return this.read(({ tasks }) => tasks.removed(ids))
  }

  async removedAfter(id: string, most: number) {
    return this.read(({ tasks }) => tasks.removedAfter(id, most))
  }

  async removedLike(text: string) {
    return this.read(({ tasks }) => tasks.removedLike(text))
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

  /** The error of a write, after which nothing of the round is stored, even if its work ignores the error. */
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

  needs(ids: readonly string[]) {
    return this.tasks(ids)
  }

  async dependents(ids: readonly string[]) {
    return this.read(({ tasks }) => tasks.dependents(ids))
  }

  async tasksOf(pipelines: readonly string[]) {
    return this.read(({ tasks }) => tasks.ofPipelines(pipelines))
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

  async overduePipelines() {
    return this.read(({ side }) => side.duePipelines(this.now))
  }

  async dueSchedules() {
    return this.read(({ side }) => side.dueSchedules(this.now))
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

  claim(ids: readonly string[]) {
    return this.tasks(ids)
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
    const { tasks, agents, side } = this.tables
    for (const row of writes.tasks) tasks.put(row)
    for (const row of writes.agents) agents.put(row)
    for (const id of writes.gone) agents.remove(id)
    side.write(writes)
    tasks.remove(writes.removed)
    const numbered = side.append(writes.changes, this.seq + this.#changes.length)
    this.#changes.push(...numbered)
    this.#calls.wrote(writes)
    return numbered
  }
}
