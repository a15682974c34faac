import type { AgentRow, PipelineRow, TaskRow, WorkRequest } from '../../model/hub-ledger.ts'
import type { Pipeline } from '../../model/tasks/pipeline.ts'
import type { InboxMark } from '../../model/tasks/inbox.ts'
import type { MachineRules } from '../../model/tasks/machine-rules.ts'
import type { Schedule } from '../../model/plans/schedule.ts'
import type { WorkspaceDay } from '../../model/tasks/spending-cap.ts'
import type { HubAgent, TaskState } from '../../model/tasks/task.ts'
import { isCalled } from '../agent-calls.ts'
import { hash } from 'node:crypto'
import { defined } from '../../../base/defined.ts'
import { deadlineOf, finishedStates, mayMention, nextRunOf, textsOf } from '../../model/hub-ledger.ts'
import { markKey } from '../../model/tasks/inbox.ts'
import { workspacesOf } from '../../model/tasks/task-wait.ts'
import { parseTask } from '../../model/tasks/task.ts'
import { withoutNul } from '../tables.ts'

/** A table whose rows are written together: its columns with their types, the key first, and the values of a row. */
export type Table<Row> = {
  name: string
  columns: readonly (readonly [column: string, type: string])[]
  id(row: Row): string
  values(row: Row): readonly unknown[]
}

/** A text as a column takes it. */
export const column = withoutNul
const optional = (text: string | undefined) => (text === undefined ? null : column(text))

/** An array as PostgreSQL writes it. */
function arrayText(items: readonly string[]): string {
  return `{${items.map((item) => `"${column(item).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`
}

/** Identifies all ready tasks that the same agents may get: one workspace, capabilities and wished agent. */
function kindOf({ task: { workspace, capabilities, wish } }: TaskRow): string {
  return hash('sha256', JSON.stringify([workspace, [...capabilities].sort(), wish ?? null]), 'base64url').slice(0, 22)
}

/**
 * All states, in the order in which the ledger stores the counts of their tasks: a new state is added at the end, and the order never
 * changes.
 */
export const states: readonly TaskState[] = [
  'QUEUED',
  'PENDING_ACK',
  'ASSIGNED',
  'IN_PROGRESS',
  'BLOCKED',
  'IN_REVIEW',
  'APPROVED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
]

/** When an open task has to be checked: `due` and the deadline are on the same clock here, that of the database. */
function wakeOf({ task, due }: TaskRow): number | null {
  if (finishedStates.includes(task.state)) return null
  const wake = Math.min(due ?? Infinity, deadlineOf(task) ?? Infinity)
  return wake === Infinity ? null : wake
}

export const taskTable: Table<TaskRow> = {
  name: 'tasks',
  columns: [
    ['id', 'text'],
    ['task', 'text'],
    ['touched', 'float8'],
    ['ready', 'bool'],
    ['due', 'float8'],
    ['wake', 'float8'],
    ['state', 'text'],
    ['workspace', 'text'],
    ['priority', 'float8'],
    ['created', 'float8'],
    ['agent', 'text'],
    ['wish', 'text'],
    ['capabilities', 'text[]'],
    ['needs', 'text[]'],
    ['pipeline', 'text'],
    ['kind', 'text'],
    ['merging', 'bool'],
    ['mentions', 'bool'],
    ['texts', 'text[]'],
  ],
  id: ({ task }) => task.id,
  values: (row) => {
    const { task, touched, ready, due } = row
    const stored = JSON.stringify(task)
    const texts = textsOf(task, stored)
    return [
      column(task.id),
      stored,
      touched,
      ready,
      finishedStates.includes(task.state) ? null : (due ?? null),
      wakeOf(row),
      task.state,
      column(task.workspace),
      task.priority,
      task.created,
      optional(task.agent),
      optional(task.wish),
      arrayText(task.capabilities),
      arrayText(task.needs),
      optional(task.pipeline?.id),
      ready ? kindOf(row) : null,
      task.merging !== undefined,
      mayMention(task),
      texts.length > 0 ? arrayText(texts) : null,
    ]
  },
}

/** The columns that a task is read from. */
export const taskColumns = 'task, touched, ready, due'
export type StoredTask = { task: string; touched: number; ready: boolean; due: number | null }

export const taskOf = ({ task, touched, ready, due }: StoredTask): TaskRow =>
  defined({ task: parseTask(JSON.parse(task)), touched, ready, due: due ?? undefined })

export const agentTable: Table<AgentRow> = {
  name: 'agents',
  columns: [
    ['id', 'text'],
    ['agent', 'text'],
    ['heard', 'float8'],
    ['wait_hub', 'text'],
    ['wait_number', 'float8'],
    ['wait_until', 'float8'],
    ['left_at', 'float8'],
    ['asked', 'text'],
    ['task', 'text'],
    ['workspaces', 'text[]'],
    ['capabilities', 'text[]'],
    ['evicted', 'bool'],
    ['called', 'bool'],
    ['machine', 'text'],
    ['paused', 'bool'],
  ],
  id: ({ agent }) => agent.id,
  values: ({ agent, heard, wait, left, asked, task }) => [
    column(agent.id),
    JSON.stringify(agent),
    heard,
    optional(wait?.hub),
    wait?.number ?? null,
    wait?.until ?? null,
    left ?? null,
    asked ? JSON.stringify(asked) : null,
    optional(task),
    arrayText(workspacesOf(agent)),
    arrayText(agent.capabilities),
    agent.evicted !== undefined,
    isCalled(agent),
    optional(agent.status?.machine),
    agent.paused !== undefined,
  ],
}

export const agentColumns = 'agent, heard, wait_hub, wait_number, wait_until, left_at, asked, task'
export type StoredAgent = {
  agent: string
  heard: number
  wait_hub: string | null
  wait_number: number | null
  wait_until: number | null
  left_at: number | null
  asked: string | null
  task: string | null
}

export function agentOf(row: StoredAgent): AgentRow {
  const { agent, heard, wait_hub, wait_number, wait_until, left_at, asked, task } = row
  const wait = wait_hub === null ? undefined : { hub: wait_hub, number: wait_number ?? 0, until: wait_until ?? 0 }
  return defined({
    agent: JSON.parse(agent) as HubAgent,
    heard,
    wait,
    left: left_at ?? undefined,
    asked: asked === null ? undefined : (JSON.parse(asked) as WorkRequest),
    task: task ?? undefined,
  })
}

export const pipelineTable: Table<PipelineRow> = {
  name: 'pipelines',
  columns: [
    ['id', 'text'],
    ['pipeline', 'text'],
    ['due', 'float8'],
  ],
  id: ({ pipeline }) => pipeline.id,
  values: ({ pipeline, due }) => [column(pipeline.id), JSON.stringify(pipeline), due ?? null],
}

export type StoredPipeline = { pipeline: string; due: number | null }
export const pipelineOf = ({ pipeline, due }: StoredPipeline): PipelineRow =>
  defined({ pipeline: JSON.parse(pipeline) as Pipeline, due: due ?? undefined })

export const scheduleTable: Table<Schedule> = {
  name: 'schedules',
  columns: [
    ['id', 'text'],
    ['schedule', 'text'],
    ['next', 'float8'],
  ],
  id: ({ id }) => id,
  values: (schedule) => [column(schedule.id), JSON.stringify(schedule), nextRunOf(schedule) ?? null],
}

/** A table of rows that are only found by their key. */
function plainTable<Row>(name: string, text: string, id: (row: Row) => string): Table<Row> {
  return {
    name,
    columns: [
      ['id', 'text'],
      [text, 'text'],
    ],
    id,
    values: (row) => [column(id(row)), JSON.stringify(row)],
  }
}

export const dayTable = plainTable<WorkspaceDay>('days', 'day', ({ workspace }) => workspace)
/** The rules of machines, with the columns by which tasks and agents are matched. */
export const machineTable: Table<MachineRules> = {
  name: 'machine_rules',
  columns: [
    ['id', 'text'],
    ['rules', 'text'],
    ['labels', 'text[]'],
    ['task_limit', 'float8'],
    ['paused', 'bool'],
  ],
  id: ({ machine }) => machine,
  values: (rules) => [
    column(rules.machine),
    JSON.stringify(rules),
    arrayText(rules.labels ?? []),
    rules.limit ?? null,
    rules.pause !== undefined,
  ],
}

export const markTable = plainTable<InboxMark>('marks', 'mark', markKey)

/** The values of rows, one list for each column. */
export function columnsOf<Row>({ columns, values }: Table<Row>, rows: readonly Row[]): unknown[][] {
  const lists: unknown[][] = columns.map(() => [])
  for (const row of rows) for (const [at, value] of values(row).entries()) lists[at]!.push(value)
  return lists
}
