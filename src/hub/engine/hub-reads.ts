import type { AgentStanding } from '../model/tasks/agent-status.ts'
import type { AgentRow, HubLedger, LedgerLook, TaskQuery } from '../model/hub-ledger.ts'
import type { AgentNow, HubState } from '../model/hub-state.ts'
import type { Schedule } from '../model/plans/schedule.ts'
import type { WorkspaceDay } from '../model/tasks/spending-cap.ts'
import type { HubAgent, Task, TaskState } from '../model/tasks/task.ts'
import type { HubInbox } from './hub-inbox.ts'
import type { SpendingLimits } from './rounds/spending-limits.ts'
import { defined } from '../../base/defined.ts'
import { finishedStates } from '../model/hub-ledger.ts'
import { FleetRules, heldByMachine, wholeHub } from '../model/tasks/machine-rules.ts'
import { isAbout, waits } from './rules/presence.ts'
import { explainMissing, HubError, NoTask } from './rules/task-rules.ts'

/** The place of a task in a list, the newest first. */
export type TaskPlace = NonNullable<TaskQuery['after']>

/** A page of a list of tasks; `after` is its last task if more follow. */
type TaskPage = { seq: number; tasks: Task[]; after?: TaskPlace }

const openStates: readonly TaskState[] = ['QUEUED', 'PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS', 'BLOCKED', 'IN_REVIEW']
/** How many finished tasks one answer contains; clients request the rest page by page. */
const mostFinished = 1_000
/** How many finished tasks the dashboard in a browser gets first; it requests the rest while it shows these. */
const firstFinished = 200

/** The reads of the hub. Each uses one snapshot of the ledger, so that all parts of an answer belong to the same moment. */
export abstract class HubReads {
  abstract readonly inbox: HubInbox
  readonly #ledger: HubLedger
  readonly #limits: SpendingLimits

  constructor(ledger: HubLedger, limits: SpendingLimits) {
    this.#ledger = ledger
    this.#limits = limits
  }

  task(id: string): Promise<Task> {
    return this.#ledger.look((look) => taskAt(look, id))
  }

  /** The tasks of a query, the newest first. */
  tasks(query: TaskQuery = {}): Promise<Task[]> {
    return this.#ledger.look(async (look) => tasksIn(await look.list(query)))
  }

  async agent(id: string): Promise<HubAgent> {
    return (await this.#ledger.look((look) => agentAt(look, id))).agent
  }

  /** An agent with its standing. */
  agentNow(id: string): Promise<AgentNow> {
    return this.#ledger.look(async (look) => {
      const row = await agentAt(look, id)
      const [held] = await look.held([id])
      return agentNowOf(row, held?.task.id, look.steady, await rulesAround(look, row))
    })
  }

  /** Every agent with its standing. */
  agents(): Promise<AgentNow[]> {
    return this.#ledger.look(agentsIn)
  }

  /** Whether each agent waits and is present, and when it was last heard of. */
  standings(): Promise<AgentStanding[]> {
    return this.#ledger.look(async (look) =>
      (await look.agents()).map((row) => ({
        id: row.agent.id,
        waits: waits(row, look.steady),
        about: isAbout(row, look.steady),
        seen: row.agent.seen,
      })),
    )
  }

  /** The tokens and the cost that each workspace has used today. */
  days(): Promise<WorkspaceDay[]> {
    return this.#ledger.look((look) => this.daysIn(look))
  }

  protected async daysIn(look: LedgerLook): Promise<WorkspaceDay[]> {
    return this.#limits.today(await look.days(), look.now)
  }

  /**
   * The state of the hub at one moment, with the tasks of the query, or without a query with all open tasks and the newest finished ones.
   */
  state(query?: TaskQuery): Promise<HubState> {
    return this.#ledger.look(async (look) => ({
      ...(await this.#stateIn(look)),
      tasks: query ? tasksIn(await look.list(query)) : await openAndNewest(look, mostFinished),
    }))
  }

  /** The first data of the dashboard, at one moment. Of the finished tasks that need nobody's attention it contains only the newest. */
  page(): Promise<HubState & { count: number; schedules: Schedule[] }> {
    return this.#ledger.look(async (look) => {
      const waiting = (await this.inbox.itemsIn(look)).flatMap(({ task }) => task ?? [])
      const tasks = await openAndNewest(look, firstFinished, waiting)
      const shown = new Set(tasks.map(({ pipeline }) => pipeline?.id))
      const { pipelines, ...state } = await this.#stateIn(look)
      return {
        ...state,
        tasks,
        count: (await look.counts()).reduce((sum, { count }) => sum + count, 0),
        pipelines: pipelines.filter(({ id }) => shown.has(id)),
        schedules: await look.schedules(),
      }
    })
  }

  /** A page of all tasks, the newest first; `after` is its last task if more follow. */
  pageOfTasks({ after, limit }: { after?: TaskPlace; limit: number }): Promise<TaskPage> {
    return this.#ledger.look(async (look) => {
      const more = tasksIn(await look.list(defined({ after, most: limit + 1 })))
      const tasks = more.slice(0, limit)
      const { created, id } = tasks.at(-1) ?? { created: 0, id: '' }
      return defined({ seq: look.seq, tasks, after: more.length > limit ? { created, id } : undefined })
    })
  }

  /** A task, and the number of the last change that it includes. */
  taskAt(id: string): Promise<{ seq: number; task: Task }> {
    return this.#ledger.look(async (look) => ({ seq: look.seq, task: await taskAt(look, id) }))
  }

  async #stateIn(look: LedgerLook): Promise<Omit<HubState, 'tasks'>> {
    return {
      seq: look.seq,
      epoch: look.epoch,
      agents: await agentsIn(look),
      marks: await look.marks(),
      days: await this.daysIn(look),
      pipelines: (await look.pipelines()).map(({ pipeline }) => pipeline),
      rules: await look.machineRules(),
    }
  }
}

/** Every agent with its standing, read from one snapshot of the ledger. */
export async function agentsIn(look: LedgerLook): Promise<AgentNow[]> {
  const held = new Map((await look.held()).map(({ task }) => [task.agent, task.id]))
  const rows = (await look.agents()).map((row) => ({ row, task: held.get(row.agent.id) }))
  const working = rows.map(({ row, task }) => defined({ status: row.agent.status, task }))
  const rules = new FleetRules(await look.machineRules(), heldByMachine(working))
  return rows.map(({ row, task }) => agentNowOf(row, task, look.steady, rules))
}

/** The rules that apply to one agent. */
async function rulesAround(look: LedgerLook, { agent }: AgentRow): Promise<FleetRules> {
  const machine = agent.status?.machine
  const names = [wholeHub, ...(machine === undefined ? [] : [machine])]
  const held = await look.heldOn(names)
  return new FleetRules(await look.machineRules(names), new Map(held.map((one) => [one.machine, one.count])))
}

function agentNowOf(row: AgentRow, task: string | undefined, steady: number, rules: FleetRules): AgentNow {
  const rests = rules.restOf(row.agent)
  return defined({ ...row.agent, waits: waits(row, steady), about: isAbout(row, steady), task, rests })
}

/** A task, read from one snapshot of the ledger. */
export async function taskAt(look: LedgerLook, id: string): Promise<Task> {
  const [row] = await look.tasks([id])
  if (!row) throw await explainMissing(look, new NoTask(id))
  return row.task
}

async function agentAt(look: LedgerLook, id: string): Promise<AgentRow> {
  const [row] = await look.agents([id])
  if (!row) throw new HubError('missing', `No agent ${id} is registered. Call register_agent first.`)
  return row
}

const tasksIn = (rows: readonly { task: Task }[]) => rows.map(({ task }) => task)

/** All open tasks, the tasks of a list, and the newest of the rest; newest first. */
async function openAndNewest(look: LedgerLook, most: number, besides: readonly string[] = []): Promise<Task[]> {
  const open = tasksIn(await look.list({ states: openStates }))
  const finished = tasksIn(await look.list({ states: finishedStates, most }))
  const known = new Map([...open, ...finished].map((task) => [task.id, task]))
  const more = besides.filter((id) => !known.has(id))
  for (const task of more.length > 0 ? tasksIn(await look.tasks(more)) : []) known.set(task.id, task)
  return [...known.values()].toSorted((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1))
}
