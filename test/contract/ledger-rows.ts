import type {
  AgentRow,
  HubLedger,
  LedgerRound,
  LedgerWrites,
  NewChange,
  TaskRow,
} from '../../src/hub/model/hub-ledger.ts'
import type { Pipeline } from '../../src/hub/model/tasks/pipeline.ts'
import type { Schedule } from '../../src/hub/model/plans/schedule.ts'
import type { HubAgent, QueuedTask, Task, TaskState } from '../../src/hub/model/tasks/task.ts'
import type { TaskNote } from '../../src/hub/model/tasks/task-note.ts'
import { emptyWrites } from '../../src/hub/model/hub-ledger.ts'

/** Rows as a hub writes them, for the tests of ledgers. */
export const queued = (id: string, over: Partial<QueuedTask> = {}): QueuedTask => ({
  id,
  prompt: `do ${id}: ö…"\n`,
  workspace: 'w',
  priority: 0,
  capabilities: [],
  needs: [],
  state: 'QUEUED',
  created: 1,
  moved: 1,
  returns: 0,
  notes: [],
  history: [{ at: 1, state: 'QUEUED', by: 'me' }],
  ...over,
})

/** A task in any state, with the facts of that state. */
export function taskIn(state: TaskState, id: string, over: Partial<Task> = {}): Task {
  const facts = { agent: 'a', heard: 1, why: 'so', question: '?', result: { message: 'done' } }
  const { agent, ...rest } = facts
  return { ...queued(id), ...(state === 'QUEUED' ? {} : { agent, ...rest }), state, ...over } as Task
}

export const row = (task: Task, over: Partial<TaskRow> = {}): TaskRow => ({ task, touched: 1, ready: false, ...over })

export const agentRow = (id: string, over: Partial<HubAgent> = {}, rest: Partial<AgentRow> = {}): AgentRow => ({
  agent: {
    id,
    role: 'developer',
    capabilities: ['code'],
    workspace: 'w',
    source: 'CLI',
    registered: 1,
    seen: 2,
    inbox: [],
    ...over,
  },
  heard: 1,
  ...rest,
})

export const note = (number: number, text = `note ${number}`): TaskNote => ({
  number,
  at: 1,
  by: 'a',
  kind: 'comment',
  text,
})

export const pipeline = (id: string, over: Partial<Pipeline> = {}): Pipeline => ({
  id,
  name: 'nightly',
  by: 'me',
  created: 1,
  digest: 'd',
  tasks: ['t1'],
  ...over,
})

export const schedule = (id: string, over: Partial<Schedule> = {}): Schedule => ({
  cron: '0 3 * * *',
  zone: 'UTC',
  overlap: 'skip',
  id,
  name: 'nightly',
  plan: { name: 'nightly', tasks: [] },
  digest: 'd',
  by: 'me',
  created: 1,
  runs: 0,
  skipped: 0,
  ...over,
})

/** A change that says that a task was moved. */
export const moved = (id: string, at = 1): NewChange => ({ at, type: 'task', id, set: { state: 'QUEUED' } })

export const nothing = emptyWrites

/** Writes rows in a round of their own. */
export const put = (ledger: HubLedger, writes: Partial<LedgerWrites>) =>
  ledger.round((round) => round.write({ ...nothing, ...writes }))

export const ids = (rows: readonly TaskRow[]) => rows.map(({ task }) => task.id)

/** Ids in an order of their own, for reads whose order is not promised. */
export const sortedIds = (rows: readonly TaskRow[]) => ids(rows).toSorted()

/** A round that leaves nothing: what it reads is returned. */
export async function tried<T>(ledger: HubLedger, work: (round: LedgerRound) => Promise<T>): Promise<T> {
  let seen: { value: T } | undefined
  const enough = new Error('enough')
  await ledger
    .round(async (round) => {
      seen = { value: await work(round) }
      throw enough
    })
    .catch((error: unknown) => {
      if (error !== enough) throw error
    })
  return seen!.value
}
