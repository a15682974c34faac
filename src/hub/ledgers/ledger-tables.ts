import type { HubAct, KeptAct } from '../model/access/hub-audit.ts'
import type { HubInvite } from '../model/access/invitation.ts'
import type { HubKey } from '../model/access/hub-key.ts'
import type { SignIn, SignInLink } from '../model/access/sign-in.ts'
import type { AgentRow, LedgerWrites, PipelineRow, TaskRow, WorkRequest } from '../model/hub-ledger.ts'
import type { Schedule } from '../model/plans/schedule.ts'
import type { InboxMark } from '../model/tasks/inbox.ts'
import type { MachineRules } from '../model/tasks/machine-rules.ts'
import type { Pipeline } from '../model/tasks/pipeline.ts'
import type { RemovedTask } from '../model/tasks/removed-tasks.ts'
import type { WorkspaceDay } from '../model/tasks/spending-cap.ts'
import type { TaskNote } from '../model/tasks/task-note.ts'
import type { HubAgent, Task } from '../model/tasks/task.ts'
import type { KeptRequest } from '../../core/work/hub-request.ts'
import type { Column, Table } from './tables.ts'
import { hash } from 'node:crypto'
import { defined } from '../../base/defined.ts'
import { deadlineOf, finishedStates, mayMention, nextRunOf, textsOf } from '../model/hub-ledger.ts'
import { markKey } from '../model/tasks/inbox.ts'
import { workspacesOf } from '../model/tasks/task-wait.ts'
import { parseTask } from '../model/tasks/task.ts'
import { isCalled } from './agent-calls.ts'

/** A table whose rows are stored as JSON; `columns` are the columns beside the key and the JSON. */
function jsonTable<Row>(
  name: string,
  json: string,
  id: (row: Row) => string,
  columns: readonly Column<Row>[] = [],
): Table<Row> {
  return {
    name,
    json: (row) => row,
    columns: [{ name: 'id', type: 'text', of: id }, { name: json, type: 'json', of: (_, text) => text }, ...columns],
    fields: [json],
    read: (stored: Record<string, string>) => JSON.parse(stored[json]!) as Row,
  }
}

/** The same table, with another name for its key in SQLite. */
const keyedIn = <Row>(sqlite: string, table: Table<Row>): Table<Row> => {
  const [key, ...columns] = table.columns as [Column<Row>, ...Column<Row>[]]
  return { ...table, columns: [{ ...key, only: 'postgres' }, { ...key, name: sqlite, only: 'sqlite' }, ...columns] }
}

/** Marks columns as existing only in PostgreSQL. */
const inPostgres = <Row>(columns: readonly Column<Row>[]): Column<Row>[] =>
  columns.map((column) => ({ ...column, only: 'postgres' }))

const isOpen = ({ task: { state } }: TaskRow) => !finishedStates.includes(state)

/** When an open task has to be checked. In PostgreSQL, `due` and the deadline are on the same clock, that of the database. */
function wakeOf(row: TaskRow): number | undefined {
  const wake = isOpen(row) ? Math.min(row.due ?? Infinity, deadlineOf(row.task) ?? Infinity) : Infinity
  return wake === Infinity ? undefined : wake
}

/** Identifies all ready tasks that the same agents may get: those with the same workspace, capabilities and wished agent. */
function kindOf({ task: { workspace, capabilities, wish } }: TaskRow): string {
  return hash('sha256', JSON.stringify([workspace, [...capabilities].sort(), wish ?? null]), 'base64url').slice(0, 22)
}

/** The text by which SQLite finds tasks with the same capabilities. */
const capabilitiesText = (capabilities: readonly string[]) =>
  capabilities.length === 0 ? '' : JSON.stringify([...new Set(capabilities)].toSorted())

/** Parses the capabilities from such a text. */
export const capabilitiesIn = (text: string) => (text === '' ? [] : (JSON.parse(text) as string[]))

type StoredTask = { task: string; touched: number; ready: boolean | number; due: number | null }

/** Tasks are stored as JSON; the other columns are derived from it, and only serve to find rows. */
export const taskTable: Table<TaskRow> = {
  name: 'tasks',
  json: ({ task }) => task,
  columns: [
    { name: 'id', type: 'text', of: ({ task }) => task.id },
    { name: 'tail', type: 'text', of: ({ task }) => tailOf(task.id), isFixed: true, only: 'sqlite' },
    { name: 'created', type: 'wholeTime', of: ({ task }) => task.created, isFixed: true },
    { name: 'state', type: 'text', of: ({ task }) => task.state },
    { name: 'workspace', type: 'text', of: ({ task }) => task.workspace },
    { name: 'rank', type: 'time', of: ({ task }) => -task.priority, only: 'sqlite' },
    { name: 'priority', type: 'time', of: ({ task }) => task.priority, only: 'postgres' },
    { name: 'capabilities', type: 'text', of: ({ task }) => capabilitiesText(task.capabilities), only: 'sqlite' },
    { name: 'capabilities', type: 'texts', of: ({ task }) => task.capabilities, only: 'postgres' },
    { name: 'needs', type: 'texts', of: ({ task }) => task.needs, only: 'postgres' },
    { name: 'wish', type: 'text', of: ({ task }) => task.wish ?? '', only: 'sqlite' },
    { name: 'wish', type: 'text', of: ({ task }) => task.wish, isOptional: true, only: 'postgres' },
    // Ready tasks that are meant for one agent can also be found by that agent alone.
    {
      name: 'wished',
      type: 'text',
      of: ({ task, ready }) => (ready && task.wish !== '' ? task.wish : undefined),
      isOptional: true,
      only: 'sqlite',
    },
    { name: 'agent', type: 'text', of: ({ task }) => task.agent, isOptional: true },
    { name: 'pipeline', type: 'text', of: ({ task }) => task.pipeline?.id, isFixed: true, isOptional: true },
    { name: 'ready', type: 'flag', of: ({ ready }) => ready },
    {
      name: 'kind',
      type: 'text',
      of: (row) => (row.ready ? kindOf(row) : undefined),
      isOptional: true,
      only: 'postgres',
    },
    { name: 'touched', type: 'time', of: ({ touched }) => touched },
    { name: 'due', type: 'time', of: (row) => (isOpen(row) ? row.due : undefined), isOptional: true },
    { name: 'deadline', type: 'time', of: ({ task }) => deadlineOf(task), isOptional: true, only: 'sqlite' },
    { name: 'wake', type: 'time', of: wakeOf, isOptional: true, only: 'postgres' },
    { name: 'merging', type: 'flag', of: ({ task }) => task.merging !== undefined, isOptional: true },
    { name: 'mentions', type: 'flag', of: ({ task }) => mayMention(task), isOptional: true },
    { name: 'task', type: 'json', of: (_, json) => json },
    {
      name: 'texts',
      type: 'texts',
      of: ({ task }, json) => {
        const texts = textsOf(task, json)
        return texts.length > 0 ? texts : undefined
      },
      isOptional: true,
      only: 'postgres',
    },
  ],
  fields: ['task', 'touched', 'ready', 'due'],
  read({ task, touched, ready, due }: StoredTask) {
    const parsed: unknown = JSON.parse(task)
    // SQLite converted the tasks of an older termaite when its tables were created.
    const row = {
      task: typeof ready === 'number' ? (parsed as Task) : parseTask(parsed),
      touched,
      ready: Boolean(ready),
    }
    return due === null ? row : { ...row, due }
  },
  isLong: true,
}

type StoredAgent = {
  agent: string
  heard?: number
  wait_hub: string | null
  wait_number: number
  wait_until: number
  left_at: number | null
  asked: string | null
  task: string | null
}

/** Agents. SQLite stores the whole row as JSON, because its process has all agents in memory. */
export const agentTable: Table<AgentRow> = {
  name: 'agents',
  json: (row, kind) => (kind === 'sqlite' ? row : row.agent),
  columns: [
    { name: 'id', type: 'text', of: ({ agent }) => agent.id },
    { name: 'agent', type: 'json', of: (_, json) => json },
    ...inPostgres<AgentRow>([
      { name: 'heard', type: 'time', of: ({ heard }) => heard },
      { name: 'wait_hub', type: 'text', of: ({ wait }) => wait?.hub, isOptional: true },
      { name: 'wait_number', type: 'time', of: ({ wait }) => wait?.number, isOptional: true },
      { name: 'wait_until', type: 'time', of: ({ wait }) => wait?.until, isOptional: true },
      { name: 'left_at', type: 'time', of: ({ left }) => left, isOptional: true },
      { name: 'asked', type: 'json', of: ({ asked }) => asked && JSON.stringify(asked), isOptional: true },
      { name: 'task', type: 'text', of: ({ task }) => task, isOptional: true },
      { name: 'workspaces', type: 'texts', of: ({ agent }) => workspacesOf(agent) },
      { name: 'capabilities', type: 'texts', of: ({ agent }) => agent.capabilities },
      { name: 'evicted', type: 'flag', of: ({ agent }) => agent.evicted !== undefined },
      { name: 'called', type: 'flag', of: ({ agent }) => isCalled(agent) },
      { name: 'machine', type: 'text', of: ({ agent }) => agent.status?.machine, isOptional: true },
      { name: 'paused', type: 'flag', of: ({ agent }) => agent.paused !== undefined },
    ]),
  ],
  fields: ['agent', 'heard', 'wait_hub', 'wait_number', 'wait_until', 'left_at', 'asked', 'task'],
  read({ agent, heard, wait_hub, wait_number, wait_until, left_at, asked, task }: StoredAgent) {
    if (heard === undefined) return JSON.parse(agent) as AgentRow
    return defined({
      agent: JSON.parse(agent) as HubAgent,
      heard,
      wait: wait_hub === null ? undefined : { hub: wait_hub, number: wait_number, until: wait_until },
      left: left_at ?? undefined,
      asked: asked === null ? undefined : (JSON.parse(asked) as WorkRequest),
      task: task ?? undefined,
    })
  },
}

export const pipelineTable: Table<PipelineRow> = {
  name: 'pipelines',
  json: ({ pipeline }) => pipeline,
  columns: [
    { name: 'id', type: 'text', of: ({ pipeline }) => pipeline.id },
    { name: 'pipeline', type: 'json', of: (_, json) => json },
    { name: 'due', type: 'time', of: ({ due }) => due, isOptional: true },
  ],
  fields: ['pipeline', 'due'],
  read: ({ pipeline, due }: { pipeline: string; due: number | null }) =>
    defined({ pipeline: JSON.parse(pipeline) as Pipeline, due: due ?? undefined }),
  isLong: true,
}

export const scheduleTable: Table<Schedule> = {
  ...jsonTable<Schedule>('schedules', 'schedule', ({ id }) => id, [
    { name: 'next', type: 'time', of: nextRunOf, isOptional: true },
  ]),
  isLong: true,
}

export const dayTable = keyedIn(
  'workspace',
  jsonTable<WorkspaceDay>('days', 'day', ({ workspace }) => workspace),
)

export const markTable = jsonTable<InboxMark>('marks', 'mark', markKey)

/** The rules of machines, with the columns by which PostgreSQL matches tasks and agents. */
export const machineTable = keyedIn(
  'machine',
  jsonTable<MachineRules>('machine_rules', 'rules', ({ machine }) => machine, [
    ...inPostgres<MachineRules>([
      { name: 'labels', type: 'texts', of: ({ labels = [] }) => labels },
      { name: 'task_limit', type: 'time', of: ({ limit }) => limit, isOptional: true },
      { name: 'paused', type: 'flag', of: ({ pause }) => pause !== undefined },
    ]),
  ]),
)

export const noteTable: Table<{ task: string; note: TaskNote }> = {
  name: 'notes',
  key: ['task', 'number'],
  json: ({ note }) => note,
  columns: [
    { name: 'task', type: 'text', of: ({ task }) => task },
    { name: 'number', type: 'number', of: ({ note }) => note.number },
    { name: 'note', type: 'json', of: (_, json) => json },
  ],
  fields: ['task', 'note'],
  read: ({ task, note }: Record<'task' | 'note', string>) => ({ task, note: JSON.parse(note) as TaskNote }),
}

/** The ids of removed tasks. SQLite finds the end of an id with the id read backwards. */
export const removedTable: Table<RemovedTask> = {
  name: 'removed_tasks',
  json: () => null,
  columns: [
    { name: 'id', type: 'text', of: ({ id }) => id },
    { name: 'tail', type: 'text', of: ({ id }) => tailOf(id), only: 'sqlite' },
    { name: 'state', type: 'text', of: ({ state }) => state },
    { name: 'at', type: 'time', of: ({ at }) => at },
    { name: 'kept', type: 'time', of: ({ keptMs }) => keptMs },
  ],
  fields: ['id', 'state', 'at', 'kept'],
  read: ({ id, state, at, kept }: Omit<RemovedTask, 'keptMs'> & { kept: number }) => ({ id, state, at, keptMs: kept }),
}

/** Keys. `used` has its own column, so that a use does not rewrite the whole key. */
export const keyTable: Table<HubKey> = {
  name: 'keys',
  json: ({ used: _, ...key }) => key,
  columns: [
    { name: 'id', type: 'text', of: ({ id }) => id },
    { name: 'name', type: 'text', of: ({ name }) => name, unique: 'anyCase' },
    { name: 'hash', type: 'text', of: ({ hash }) => hash, unique: 'exact' },
    { name: 'made', type: 'wholeTime', of: ({ made }) => made },
    { name: 'key', type: 'json', of: (_, json) => json },
    { name: 'used', type: 'wholeTime', of: ({ used }) => used, isOptional: true },
  ],
  fields: ['key', 'used'],
  read: ({ key, used }: { key: string; used: number | null }) =>
    defined({ ...(JSON.parse(key) as HubKey), used: used ?? undefined }),
}

export const inviteTable = jsonTable<HubInvite>('invites', 'invite', ({ id }) => id, [
  { name: 'name', type: 'text', of: ({ name }) => name, unique: 'anyCase' },
  { name: 'hash', type: 'text', of: ({ hash: secret }) => secret, unique: 'exact' },
  { name: 'ends', type: 'time', of: ({ ends }) => ends },
])

/** Links by which browsers sign in. */
export const linkTable = jsonTable<SignInLink>('links', 'link', ({ id }) => id, [
  { name: 'name', type: 'text', of: ({ name }) => name, only: 'postgres' },
  { name: 'made', type: 'wholeTime', of: ({ made }) => made },
])

/** Signed-in browsers, with a column of its own for the last use. */
export const signInTable: Table<SignIn> = {
  name: 'sign_ins',
  json: ({ used: _, ...signIn }) => signIn,
  columns: [
    { name: 'id', type: 'text', of: ({ id }) => id },
    { name: 'cookie', type: 'text', of: ({ cookieHash }) => cookieHash, unique: 'exact' },
    { name: 'made', type: 'wholeTime', of: ({ made }) => made },
    { name: 'sign_in', type: 'json', of: (_, json) => json },
    { name: 'used', type: 'wholeTime', of: ({ used }) => used, isOptional: true },
  ],
  fields: ['sign_in', 'used'],
  read: ({ sign_in, used }: { sign_in: string; used: number | null }) =>
    defined({ ...(JSON.parse(sign_in) as SignIn), used: used ?? undefined }),
}

/** Requests that clients may send again. */
export const requestTable: Table<KeptRequest> = {
  name: 'requests',
  json: () => null,
  columns: [
    { name: 'name', type: 'text', of: ({ name }) => name },
    { name: 'run', type: 'text', of: ({ run }) => run },
    { name: 'body', type: 'text', of: ({ body }) => body },
    { name: 'at', type: 'time', of: ({ at }) => at },
    { name: 'answer', type: 'text', of: ({ answer }) => answer, isOptional: true },
  ],
  fields: ['name', 'run', 'body', 'at', 'answer'],
  read: ({ answer, ...request }: Omit<KeptRequest, 'answer'> & { answer: string | null }) =>
    defined({ ...request, answer: answer ?? undefined }),
}

/** The acts of the hub's clients, which SQLite stores in a separate file. */
export const actTable: Table<HubAct & { number?: number }> = {
  name: 'acts',
  json: () => null,
  columns: [
    { name: 'number', type: 'counter', of: ({ number }) => number },
    { name: 'at', type: 'wholeTime', of: ({ at }) => at },
    { name: 'by', type: 'text', of: ({ by }) => by },
    { name: 'key', type: 'text', of: ({ key }) => key },
    { name: 'role', type: 'text', of: ({ role }) => role },
    { name: 'address', type: 'text', of: ({ address }) => address, isOptional: true },
    { name: 'act', type: 'text', of: ({ act }) => act },
    { name: 'subject', type: 'text', of: ({ on }) => on, isOptional: true },
    { name: 'outcome', type: 'text', of: ({ outcome }) => outcome },
    { name: 'status', type: 'number', of: ({ status }) => status },
  ],
  fields: ['number', 'at', 'by', 'key', 'role', 'address', 'act', 'subject', 'outcome', 'status'],
  read({ number, address, subject, ...act }: StoredAct) {
    return defined({ ...act, number: Number(number), address: address ?? undefined, on: subject ?? undefined })
  },
  isLong: true,
}

type StoredAct = Omit<KeptAct, 'on' | 'address' | 'number'> & {
  number: number | string
  subject: string | null
  address: string | null
}

/** An id read backwards. */
export const tailOf = (id: string) => [...id].toReversed().join('')

/** A table with rows of any type. */
export type AnyTable = Table<unknown>

/** Every table that is described here. */
export const storedTables = [
  taskTable,
  agentTable,
  pipelineTable,
  scheduleTable,
  dayTable,
  markTable,
  machineTable,
  noteTable,
  removedTable,
  keyTable,
  inviteTable,
  linkTable,
  signInTable,
  requestTable,
] as readonly AnyTable[]

const written = <Row>(table: Table<Row>, rows: readonly Row[], gone: readonly string[] = []) => ({
  table: table as AnyTable,
  rows,
  gone,
})

/** The rows that a round writes besides tasks and agents, by table, and the keys of the rows that it removes. */
export const sideWrites = (
  writes: LedgerWrites,
): readonly { table: AnyTable; rows: readonly unknown[]; gone: readonly string[] }[] => [
  written(pipelineTable, writes.pipelines, writes.removedPipelines),
  written(scheduleTable, writes.schedules, writes.unscheduled),
  written(dayTable, writes.days),
  written(markTable, writes.marks),
  written(machineTable, writes.machines),
  written(noteTable, writes.notes),
]
