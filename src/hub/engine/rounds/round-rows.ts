import type { InboxMark } from '../../model/tasks/inbox.ts'
import type { AgentRow, HubChange, LedgerRound, PipelineRow, TaskRow } from '../../model/hub-ledger.ts'
import type { MachineRules } from '../../model/tasks/machine-rules.ts'
import type { Pipeline } from '../../model/tasks/pipeline.ts'
import type { Schedule } from '../../model/plans/schedule.ts'
import type { WorkspaceDay } from '../../model/tasks/spending-cap.ts'
import type { NewNote } from '../../model/tasks/task-note.ts'
import type { HubAgent } from '../../model/tasks/task.ts'
import { defined } from '../../../base/defined.ts'
import { emptyWrites } from '../../model/hub-ledger.ts'
import { markKey } from '../../model/tasks/inbox.ts'
import { KnownRows } from './known-rows.ts'
import { RoundConsequences } from './round-consequences.ts'
import { HubError } from '../rules/task-rules.ts'
import { TaskRows } from './task-rows.ts'

/** The rows that a wish concerns, by their ids. An agent is read with the tasks that it has, a pipeline with all of its tasks. */
export type Reads = {
  tasks?: readonly string[]
  /** Tasks that others need, and that the wish does not change. */
  needs?: readonly string[]
  agents?: readonly string[]
  pipelines?: readonly string[]
  schedules?: readonly string[]
  /** Whether all schedules are read. */
  everySchedule?: boolean
  days?: readonly string[]
  /** The keys of the inbox marks to read. */
  marks?: readonly string[]
  /** The names of machines whose rules are changed. */
  machines?: readonly string[]
  /**
   * Agents to which no other round may give anything until this one is over. Their rows are not changed, and their tasks are not read.
   */
  locked?: readonly string[]
}

/**
 * The rows of one round: they are read from the ledger and locked, then changed in memory in one go, then written. No other round sees a
 * change before this one is over.
 */
export class RoundRows {
  readonly ledger: LedgerRound
  readonly consequences: RoundConsequences
  readonly tasks: TaskRows
  #agents: KnownRows<AgentRow>
  #pipelines: KnownRows<PipelineRow>
  #schedules: KnownRows<Schedule>
  #days: KnownRows<WorkspaceDay>
  #marks: KnownRows<InboxMark>
  #machines: KnownRows<MachineRules>
  #locked: KnownRows<AgentRow>

  constructor(ledger: LedgerRound) {
    this.ledger = ledger
    this.consequences = new RoundConsequences(ledger)
    this.tasks = new TaskRows(ledger, this.consequences)
    const agents = { read: (ids: readonly string[]) => ledger.agents(ids), id: ({ agent }: AgentRow) => agent.id }
    this.#agents = new KnownRows(agents)
    this.#locked = new KnownRows(agents)
    this.#pipelines = new KnownRows({ read: (ids) => ledger.pipelines(ids), id: ({ pipeline }) => pipeline.id })
    this.#schedules = new KnownRows({ read: (ids) => ledger.schedules(ids), id: ({ id }) => id })
    this.#days = new KnownRows({ read: (ids) => ledger.days(ids), id: ({ workspace }) => workspace })
    this.#marks = new KnownRows({ read: (ids) => ledger.marks(ids), id: markKey })
    this.#machines = new KnownRows({ read: (ids) => ledger.machineRules(ids), id: ({ machine }) => machine })
  }

  get now(): number {
    return this.ledger.now
  }

  get steady(): number {
    return this.ledger.steady
  }

  /**
   * Reads all named rows that were not read yet. Returns whether there were any. All are requested at once, in an order that is always
   * the same: a remote ledger answers after one round trip, and rounds that lock rows of the same kinds wait for each other instead of
   * deadlocking.
   */
  async read(reads: Reads): Promise<boolean> {
    const { ledger } = this
    if (reads.everySchedule) this.learnSchedules(await ledger.schedules())
    const { agents = [], pipelines = [] } = reads
    const found = await Promise.all([
      this.tasks.read(reads.tasks ?? []),
      this.tasks.readNeeds(reads.needs ?? []),
      this.#readWithTasks(this.#agents, agents, (ids) => ledger.held(ids)),
      this.#readWithTasks(this.#pipelines, pipelines, (ids) => ledger.tasksOf(ids)),
      this.#schedules.read(reads.schedules ?? []),
      this.#days.read(reads.days ?? []),
      this.#marks.read(reads.marks ?? []),
      this.#locked.read(reads.locked ?? []),
      this.#machines.read(reads.machines ?? []),
    ])
    return found.includes(true)
  }

  /** Reads rows, and in the same request the tasks that belong to them. */
  async #readWithTasks<R>(
    rows: KnownRows<R>,
    ids: readonly string[],
    tasksOf: (ids: readonly string[]) => Promise<TaskRow[]>,
  ): Promise<boolean> {
    const missing = rows.missing(ids)
    if (missing.length === 0) return false
    const [, tasks] = await Promise.all([rows.read(missing), tasksOf(missing)])
    this.tasks.learn(tasks)
    return true
  }

  /** A note dated now. */
  note(by: string, kind: NewNote['kind'], text: string, percentage?: number): NewNote {
    return defined({ at: this.now, by, kind, text, percentage })
  }

  learnSchedules(rows: readonly Schedule[]): void {
    this.#schedules.learn(rows)
  }

  /** The agent of a wish that names further rows once the agent was read; undefined before that. */
  readAgent(id: string): AgentRow | undefined {
    return this.#agents.known.get(id)
  }

  knownAgent(id: string): HubAgent | undefined {
    return this.#agents.get(id)?.agent
  }

  agent(id: string): HubAgent {
    return this.agentRow(id).agent
  }

  agentRow(id: string): AgentRow {
    const row = this.#agents.get(id)
    if (!row) throw new HubError('missing', `No agent ${id} is registered. Call register_agent first.`)
    return row
  }

  knownPipeline(id: string): Pipeline | undefined {
    return this.#pipelines.get(id)?.pipeline
  }

  pipeline(id: string): Pipeline {
    const pipeline = this.knownPipeline(id)
    if (!pipeline) throw new HubError('missing', `There is no pipeline ${id}.`)
    return pipeline
  }

  knownSchedule(id: string): Schedule | undefined {
    return this.#schedules.get(id)
  }

  /** The schedules that this round has read. */
  schedules(): Schedule[] {
    return [...this.#schedules.known.values()].flatMap((schedule) => schedule ?? [])
  }

  schedule(id: string): Schedule {
    const schedule = this.#schedules.get(id)
    if (!schedule) throw new HubError('missing', `There is no schedule ${id}.`)
    return schedule
  }

  day(workspace: string): WorkspaceDay | undefined {
    return this.#days.get(workspace)
  }

  /** The days of all workspaces, including the changes of this round. */
  async days(): Promise<WorkspaceDay[]> {
    const stored = new Map((await this.ledger.days()).map((day) => [day.workspace, day]))
    for (const [workspace, day] of this.#days.known) if (day) stored.set(workspace, day)
    return [...stored.values()]
  }

  markOf(of: Pick<InboxMark, 'item' | 'person'>): InboxMark | undefined {
    return this.#marks.get(markKey(of))
  }

  rulesOf(machine: string): MachineRules {
    return this.#machines.get(machine) ?? { machine }
  }

  /** Sets the rules of a machine. With the new rules, waiting agents may get tasks. */
  setRules(rules: MachineRules): void {
    this.#machines.put(rules.machine, rules)
    this.consequences.callsAgents = true
    this.consequences.publish({ type: 'machine', rules })
  }

  know(agent: HubAgent): void {
    const row = this.#agents.get(agent.id)
    const isHeard = row?.agent.seen !== agent.seen
    if (row?.agent.paused && !agent.paused) this.callAll()
    if (agent.inbox.length > 0 || agent.evicted !== undefined) this.consequences.callsAgents = true
    const { left: _, ...rest } = row ?? { heard: this.steady }
    this.#agents.put(agent.id, isHeard || !row ? { ...rest, agent, heard: this.steady } : { ...row, agent })
    this.consequences.publish({ type: 'agent', agent })
  }

  /** Tells every hub that this round may have made room for a ready task. */
  callAll(): void {
    this.consequences.callsAgents = true
    this.ledger.call()
  }

  /** Notes that an agent sent something. The time is only published with the agent's next change. */
  hear(id: string): HubAgent {
    const { left: _, ...row } = this.agentRow(id)
    const agent = { ...row.agent, seen: this.now }
    this.#agents.put(id, { ...row, agent, heard: this.steady })
    return agent
  }

  /** Changes the fields of an agent that only the hub knows: its connection, and its last task. */
  putAgentRow(row: AgentRow): void {
    this.#agents.put(row.agent.id, row)
  }

  forget(id: string): void {
    this.#agents.put(id, undefined)
    this.consequences.publish({ type: 'gone', id })
  }

  mark(mark: InboxMark): void {
    this.#marks.put(markKey(mark), mark)
    this.consequences.publish({ type: 'mark', mark })
  }

  keepDay(day: WorkspaceDay): void {
    this.#days.put(day.workspace, day)
    this.consequences.callsAgents = true
    this.consequences.publish({ type: 'day', day })
  }

  /** Writes a pipeline; its queued tasks are checked again, because the pipeline may have been paused or resumed. */
  keepPipeline(pipeline: Pipeline): void {
    const due = this.#pipelines.known.get(pipeline.id)?.due
    this.#pipelines.put(pipeline.id, defined({ pipeline, due }))
    this.consequences.moved.add(pipeline.id)
    this.consequences.publish({ type: 'pipeline', pipeline })
    for (const id of pipeline.tasks) this.tasks.reconsider(id)
  }

  /** Sets the wall-clock time at which a pipeline must be checked again. */
  putPipelineDue(id: string, due: number | undefined): void {
    const row = this.#pipelines.get(id)
    this.consequences.dueAt(due, this.now)
    if (row && row.due !== due) this.#pipelines.put(id, defined({ pipeline: row.pipeline, due }))
  }

  keepSchedule(schedule: Schedule): void {
    this.#schedules.put(schedule.id, schedule)
    if (!schedule.paused) this.consequences.dueAt(schedule.next, this.now)
    this.consequences.publish({ type: 'schedule', schedule })
  }

  unschedule(id: string): void {
    this.#schedules.put(id, undefined)
    this.consequences.publish({ type: 'unscheduled', id })
  }

  /** Writes the changed rows of tasks and agents, so that queries of this round find them. */
  async flush(): Promise<void> {
    await this.ledger.write({ ...emptyWrites, ...this.#writes() })
  }

  /** Writes all remaining changes, and ends the round. */
  async write(): Promise<HubChange[]> {
    const writes = { ...emptyWrites, ...this.#writes(), changes: this.consequences.changes }
    const isEmpty = Object.values(writes).every(({ length }) => length === 0)
    return isEmpty ? [] : this.ledger.write(writes)
  }

  #writes() {
    const schedules = this.#schedules.takeChanged()
    const agents = this.#agents.takeChanged()
    return {
      ...this.tasks.takeChanged(),
      agents: agents.rows,
      gone: agents.gone,
      pipelines: this.#pipelines.takeChanged().rows,
      schedules: schedules.rows,
      unscheduled: schedules.gone,
      days: this.#days.takeChanged().rows,
      marks: this.#marks.takeChanged().rows,
      machines: this.#machines.takeChanged().rows,
    }
  }
}
