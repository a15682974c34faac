import type { StatementSync } from 'node:sqlite'
import type { AgentRow, Claimable, ClaimQuery, QueuedTask as Turn } from '../../model/hub-ledger.ts'
import type { ClaimTimes } from '../../model/tasks/task-wait.ts'
import type { AgentTable } from './agent-table.ts'
import type { SqliteRows } from './sqlite-rows.ts'
import type { TaskTable } from './task-table.ts'
import { goesBefore } from '../../model/hub-ledger.ts'
import { FleetRules } from '../../model/tasks/machine-rules.ts'
import { claimants, isAble, isFree, workspacesOf } from '../../model/tasks/task-wait.ts'
import { hasWorkspace, isPattern } from '../../model/tasks/workspace.ts'
import { capabilitiesIn, machineTable } from '../ledger-tables.ts'

/** Identifies ready tasks that the same agents may get: those of one workspace with the same capabilities and the same wish. */
type Kind = { workspace: string; capabilities: string; wish: string }

/** The fields of a ready task that decide its place in the order, and whether its wish still counts. */
type ReadyTask = Turn & { touched: number }

/** The tasks of one kind in order, as far as they were read, and the agents that may get them. */
type Line = {
  kind: Kind
  /** `old`: the agents that may get a task last touched before `wishedBefore`; `fresh`: the agents that may get a task touched since. */
  old: readonly string[]
  fresh: readonly string[]
  read: ReadyTask[]
  /** How many of the tasks in `read` were taken, and whether there are more to read. */
  used: number
  isRead: boolean
}

/** How many tasks of a kind are read at once. */
const page = 32

const ready = 'FROM tasks INDEXED BY tasks_ready WHERE ready = 1'
/** Parameters have names here, because each is used more than once, and the oldest supported Node does not accept numbered ones. */
const wished =
  'FROM tasks INDEXED BY tasks_wished WHERE workspace = :workspace AND capabilities = :capabilities AND wished'

/**
 * Finds the ready tasks that agents may get. There may be thousands of ready tasks that no agent can do: whole kinds of them are skipped,
 * so that they are never checked one by one.
 */
export class ReadyTasks {
  #agents: AgentTable
  #tasks: TaskTable
  #stored: SqliteRows
  #sql: Record<'workspace' | 'first' | 'next' | 'wishes' | 'tasks', StatementSync>

  constructor(stored: SqliteRows, { agents, tasks }: { agents: AgentTable; tasks: TaskTable }) {
    this.#agents = agents
    this.#tasks = tasks
    this.#stored = stored
    const capabilities = `SELECT capabilities ${ready} AND workspace = ?`
    this.#sql = {
      workspace: stored.statement(`SELECT workspace ${ready} AND workspace > ? ORDER BY workspace LIMIT 1`),
      first: stored.statement(`${capabilities} ORDER BY capabilities LIMIT 1`),
      next: stored.statement(`${capabilities} AND capabilities > ? ORDER BY capabilities LIMIT 1`),
      // Jumps from each wish to the next, however many tasks have the same wish.
      wishes: stored.statement(
        `WITH RECURSIVE wishes (wish) AS (
           SELECT min(wished) ${wished} > ''
           UNION ALL SELECT (SELECT min(wished) ${wished} > wishes.wish) FROM wishes WHERE wish IS NOT NULL
         )
         SELECT wish, (SELECT min(touched) ${wished} = wishes.wish) AS oldest FROM wishes WHERE wish IS NOT NULL`,
      ),
      tasks: stored.statement(
        `SELECT id, -rank AS priority, created, touched ${ready} AND workspace = ? AND capabilities = ? AND wish = ?
         AND (rank, created, id) > (?, ?, ?) AND touched < ? ORDER BY rank, created, id LIMIT ?`,
      ),
    }
  }

  /** Ready tasks that one of the agents may get, in the order in which tasks are given out. */
  claimable(query: ClaimQuery, steady: number): Claimable[] {
    const except = new Set(query.except)
    let lines = this.#lines(query, steady)
    const found: Claimable[] = []
    while (found.length < query.most) {
      lines = lines.filter((line) => this.#next(line, query) !== undefined)
      const line = lines.reduce<Line | undefined>(
        (first, other) => (first && !isBefore(other, first) ? first : other),
        undefined,
      )
      if (!line) break
      const { id, touched } = line.read[line.used++]!
      if (!except.has(id)) found.push({ task: id, agents: [...(touched < query.wishedBefore ? line.old : line.fresh)] })
    }
    return found
  }

  /** How many tasks the agents of each machine have. */
  heldOn(): Map<string, number> {
    const held = new Map<string, number>()
    for (const agent of this.#tasks.holders()) {
      const machine = this.#agents.get(agent)?.agent.status?.machine
      if (machine !== undefined) held.set(machine, (held.get(machine) ?? 0) + 1)
    }
    return held
  }

  #rules(): FleetRules {
    const rules = this.#stored.select(machineTable)
    return new FleetRules(rules, rules.some(({ limit }) => limit !== undefined) ? this.heldOn() : undefined)
  }

  /** The next task of a line; reads more tasks when all that were read are used up. */
  #next(line: Line, { wishedBefore }: ClaimQuery): ReadyTask | undefined {
    if (line.used === line.read.length && !line.isRead) {
      const { kind, fresh } = line
      const last = line.read.at(-1)
      // If no agent of the query may get a fresh task of this kind, only old ones are read.
      const before = fresh.length > 0 ? Number.MAX_VALUE : wishedBefore
      const after = [-(last?.priority ?? Infinity), last?.created ?? 0, last?.id ?? ''] as const
      const { workspace, capabilities, wish } = kind
      line.read = this.#sql.tasks.all(workspace, capabilities, wish, ...after, before, page) as ReadyTask[]
      line.isRead = line.read.length < page
      line.used = 0
    }
    return line.read[line.used]
  }

  /** The kinds of ready tasks that one of the agents may get. */
  #lines(query: ClaimQuery, steady: number): Line[] {
    const { stopped, wishedBefore, awayBefore } = query
    const at = { steady, wishedBefore, awayBefore }
    const rules = this.#rules()
    const agents = this.#agents.rows(query.agents).filter(({ agent }) => isFree(agent, rules))
    return [...this.#workspaces(agents)].flatMap(([workspace, here]) => {
      if (stopped.includes(workspace)) return []
      const lines: Line[] = []
      let found = this.#sql.first.get(workspace) as Pick<Kind, 'capabilities'> | undefined
      for (; found; found = this.#sql.next.get(workspace, found.capabilities) as typeof found) {
        const { capabilities } = found
        const task = { workspace, capabilities: capabilitiesIn(capabilities) }
        const able = here.filter(({ agent }) => isAble(task, agent, rules))
        if (able.length > 0) lines.push(...this.#linesOf({ workspace, capabilities }, idsOf(able), at, rules))
      }
      return lines
    })
  }

  /** The kinds of ready tasks of one workspace and with the same capabilities, with the agents that can do them. */
  #linesOf(common: Omit<Kind, 'wish'>, able: string[], at: ClaimTimes, rules: FleetRules): Line[] {
    const unread = { read: [], used: 0, isRead: false }
    const lines: Line[] = [{ kind: { ...common, wish: '' }, old: able, fresh: able, ...unread }]
    const capabilities = capabilitiesIn(common.capabilities)
    const wishes = this.#sql.wishes.all(common) as { wish: string; oldest: number }[]
    for (const { wish, oldest } of wishes) {
      const { old, fresh } = claimants({ ...common, capabilities, wish }, able, this.#agents.get(wish), at, rules)
      // Otherwise each task of this kind waits for an agent that is not in the query.
      if (fresh.length > 0 || oldest < at.wishedBefore) lines.push({ kind: { ...common, wish }, old, fresh, ...unread })
    }
    return lines
  }

  /** The workspaces that may have ready tasks for these agents, each with its agents in order. */
  #workspaces(agents: readonly AgentRow[]): Map<string, AgentRow[]> {
    const known = new Map<string, AgentRow[]>()
    const keys = agents.map(({ agent }) => workspacesOf(agent))
    // A key that covers several repositories is compared with every workspace that has a ready task.
    if (keys.some((some) => some.some(isPattern))) {
      let next = this.#sql.workspace.get('') as Kind | undefined
      for (; next; next = this.#sql.workspace.get(next.workspace) as Kind | undefined) {
        const { workspace } = next
        const here = agents.filter((_, at) => hasWorkspace(keys[at]!, workspace))
        if (here.length > 0) known.set(workspace, here)
      }
      return known
    }
    for (const [at, row] of agents.entries())
      for (const key of keys[at]!) {
        const here = known.get(key)
        if (here) here.push(row)
        else known.set(key, [row])
      }
    return known
  }
}

const idsOf = (agents: readonly AgentRow[]) => agents.map(({ agent }) => agent.id)

/** Whether the next task of one line goes before the next task of the other. */
const isBefore = (line: Line, other: Line) => goesBefore(line.read[line.used]!, other.read[other.used]!)
