import type { FullDisk } from '../../../core/work/full-disk.ts'
import type { InboxMark } from '../../../hub/model/tasks/inbox.ts'
import type { TurnChange, TurnRow } from '../../../core/turns/machine-turns.ts'
import type { BriefChange } from '../../../hub/model/task-brief.ts'
import type { Pipeline } from '../../../hub/model/tasks/pipeline.ts'
import type { Schedule } from '../../../hub/model/plans/schedule.ts'
import type { WorkspaceDay } from '../../../hub/model/tasks/spending-cap.ts'
import type { AgentStanding } from '../../../hub/model/tasks/agent-status.ts'
import type { AgentRest, MachineRules } from '../../../hub/model/tasks/machine-rules.ts'
import type { MachineStanding } from '../../../hub/model/machine-standing.ts'
import type { HubAgent, Task } from '../../../hub/model/tasks/task.ts'
import type { AnswerOf } from '../../../hub/model/operations/operations.ts'
import type { TaskChange } from './open-task.ts'
import { batch, computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { inboxItems, inboxRows, markKey } from '../../../hub/model/tasks/inbox.ts'
import { FleetRules, heldByMachine } from '../../../hub/model/tasks/machine-rules.ts'
import { waitReason } from '../../../hub/model/tasks/task-wait.ts'
import { call } from './page-connection.ts'
import { request } from './page-request.ts'
import { changedTask, noteChange, openTask, readOpenTask, readWhole } from './open-task.ts'
import { now } from '../words/words.ts'

/** An agent, with the hub's present knowledge about it. */
export type AgentRow = HubAgent & { waits?: boolean; about?: boolean; task?: string; rests?: AgentRest }

/** The tasks in short form, as lists show them; `useTask` gives one complete task. */
export const tasks = signal<ReadonlyMap<string, Task>>(new Map())
/** How many tasks the hub has; more than in `tasks` while older ones are still loading. */
export const taskCount = signal(0)
export const agents = signal<ReadonlyMap<string, AgentRow>>(new Map())
export const turns = signal<ReadonlyMap<string, TurnRow>>(new Map())
/** The machines that the hub knows: its own, and those that are or were linked to it. */
export const machines = signal<readonly MachineStanding[]>([])
/** The rules of machines, and the pause of the whole hub. */
export const rules = signal<ReadonlyMap<string, MachineRules>>(new Map())
export const marks = signal<ReadonlyMap<string, InboxMark>>(new Map())
/** The tokens and the cost that each workspace has used today. */
const days = signal<ReadonlyMap<string, WorkspaceDay>>(new Map())
/** The disk of the hub's ledger, while it is nearly full. */
const fullDisk = signal<FullDisk | undefined>(undefined)
/** The number of the last change of the hub that the page shows. */
export const shownChange = signal(0)
/** The pipelines by their ids. */
export const pipelines = signal<ReadonlyMap<string, Pipeline>>(new Map())
/** The schedules by their ids, without the tasks of their plans. */
export const schedules = signal<ReadonlyMap<string, Schedule>>(new Map())
/** The person as whom the hub knows this browser; `session` is the only one that a guest can read. */
type Me = { id: string; name: string; role: string; session?: string; ends?: number }

export const me = signal<Me | undefined>(undefined)

/** Everything that waits for a person, with this person's marks. */
export const inbox = computed(() => {
  const sources = {
    tasks: tasks.value.values(),
    agents: standing.value,
    turns: turns.value.values(),
    days: days.value.values(),
    pipelines: pipelines.value.values(),
    disk: fullDisk.value,
    now: now.value,
  }
  return inboxRows(me.value?.name ?? '', inboxItems(sources), marks.value, now.value)
})

/** The task that each agent has, according to the newest changes. */
export const heldTasks = computed(() => {
  const held = new Map<string, Task>()
  for (const task of tasks.value.values()) if (isHeld(task) && task.agent !== undefined) held.set(task.agent, task)
  return held
})

/** The agents with the ids of their tasks, or the reason why they get none. */
export const standing = computed(() => {
  const known = [...agents.value.values()].map(({ task: _, rests: _rests, ...agent }): AgentRow => {
    const task = heldTasks.value.get(agent.id)?.id
    return task === undefined ? agent : { ...agent, task }
  })
  const fleet = new FleetRules(rules.value.values(), heldByMachine(known))
  return known.map((agent): AgentRow => {
    const rests = fleet.restOf(agent)
    return rests ? { ...agent, rests } : agent
  })
})

const isHeld = ({ state }: Task) => state === 'PENDING_ACK' || state === 'ASSIGNED' || state === 'IN_PROGRESS'

/** Why a task is not being worked on: the hub's reason, or, for a queued task, one derived from the agents that could do it. */
export function whyWaits(task: Task): string | undefined {
  if (task.state !== 'QUEUED' || task.why !== undefined) return task.why
  return waitReason(task, {
    tasks: tasks.value,
    agents: standing.value,
    days: days.value.values(),
    pipelines: pipelines.value.values(),
    rules: rules.value.values(),
  })
}

/**
 * The task with this id, complete and kept up to date; its short form until the hub has answered, and undefined if there is no such task.
 * `isRead` means that the hub has answered, and `why` is its message if it has no such task.
 */
export function useTask(id: string): { task: Task | undefined; isRead: boolean; why?: string | undefined } {
  useEffect(() => readWhole(id), [id])
  const whole = openTask.value?.id === id ? openTask.value : undefined
  const isRead = whole?.task !== undefined || whole?.missing === true
  return { task: whole?.task ?? tasks.value.get(id), isRead, why: whole?.why }
}

/** Called when a connection begins: the hub then sends the running turns and the state of the disk again. */
export function forgetLive(): void {
  turns.value = new Map()
  fullDisk.value = undefined
}

export async function knowMe(): Promise<Me> {
  return (me.value = await call(request('GET /api/me')))
}

/** For each task that was loaded separately, the number of the last change that this included. */
const readUpTo = new Map<string, number>()
/** Changes of tasks that are not loaded yet. */
const early = new Map<string, TaskChange[]>()
/** Tasks that were removed since the state was read: data about them that still arrives is outdated. */
const removedTasks = new Set<string>()

/** Reads the whole state again, older tasks gradually; returns the id of the last change that the result includes. */
export async function load(): Promise<string> {
  await knowMe()
  const state = await call(request('GET /api/page'))
  waiting = []
  readUpTo.clear()
  early.clear()
  removedTasks.clear()
  batch(() => {
    tasks.value = new Map(state.tasks.map((task) => [task.id, task]))
    taskCount.value = state.count
    agents.value = new Map(state.agents.map((agent) => [agent.id, agent]))
    marks.value = new Map(state.marks.map((mark) => [markKey(mark), mark]))
    days.value = new Map(state.days.map((day) => [day.workspace, day]))
    pipelines.value = new Map(state.pipelines.map((pipeline) => [pipeline.id, pipeline]))
    schedules.value = new Map(state.schedules.map((schedule) => [schedule.id, schedule]))
    rules.value = new Map(state.rules.map((one) => [one.machine, one]))
    shownChange.value = state.seq
  })
  // Neither is awaited: meanwhile the page shows the data that it has.
  void readOlder(++reading)
  void readOpenTask()
  return state.place
}

/** Counts the full reads, so that older tasks from an outdated read are discarded. */
let reading = 0
/** Whether older tasks are still loading. */
export const isReadingOlder = signal(false)
/** The most tasks that a page stores; older ones are found by their address and by `termaite task list --all`. */
const mostTasks = 20_000

async function readOlder(mine: number): Promise<void> {
  isReadingOlder.value = true
  for (let after: string | undefined = ''; after !== undefined;) {
    if (tasks.value.size >= Math.min(taskCount.value, mostTasks)) break
    const older: AnswerOf<'GET /api/page/tasks'> | undefined = await call(request('GET /api/page/tasks'), {
      after,
    }).catch(() => undefined)
    if (mine !== reading) return
    // Other code reports an unreachable hub. The next load of the page reads the missing tasks.
    if (!older) break
    addRead(older.seq, older.tasks)
    after = older.after
  }
  isReadingOlder.value = false
  for (const id of early.keys()) void readMissing(id, mine)
}

/** Loads a task that has changed and that the page did not have. */
async function readMissing(id: string, mine: number): Promise<void> {
  const read = await call(request('GET /api/page/tasks/:id', { id })).catch(() => undefined)
  if (read && mine === reading) addRead(read.seq, [read.task])
}

/** Adds tasks that were loaded, with the changes that arrived meanwhile. */
function addRead(seq: number, read: readonly Task[]): void {
  const next = new Map(tasks.value)
  for (const task of read)
    if (!next.has(task.id) && !removedTasks.has(task.id)) {
      const later = (early.get(task.id) ?? []).filter((change) => change.seq > seq)
      next.set(task.id, briefly(later.reduce<Task>(changedTask, task)))
      readUpTo.set(task.id, seq)
      early.delete(task.id)
    }
  tasks.value = next
}

type StandingChange = { type: 'standing' } & AgentStanding
type MachinesChange = { type: 'machines'; machines: MachineStanding[] }
type DiskChange = { type: 'disk'; full?: FullDisk }

/** Changes that the page has received but not shown yet. */
let waiting: (BriefChange | TurnChange | StandingChange | MachinesChange | DiskChange)[] = []
let lastShownAt = 0
/** The page is redrawn at most this often, however many changes arrive. */
const pauseMs = 200

/** Receives one change, which is shown within a moment. */
export function take(type: string, data: string): void {
  const change = { type, ...JSON.parse(data) } as (typeof waiting)[number]
  if (waiting.push(change) === 1) setTimeout(showChanges, Math.max(0, lastShownAt + pauseMs - performance.now()))
}

/** Shows all waiting changes at once. */
function showChanges(): void {
  lastShownAt = performance.now()
  const changes = waiting
  waiting = []
  // Each map is copied once, and only if something in it changes.
  const next = {
    tasks: lazyCopy(tasks.value),
    agents: lazyCopy(agents.value),
    marks: lazyCopy(marks.value),
    days: lazyCopy(days.value),
    pipelines: lazyCopy(pipelines.value),
    schedules: lazyCopy(schedules.value),
    rules: lazyCopy(rules.value),
    turns: lazyCopy(turns.value),
  }
  let last = shownChange.value
  let added = 0
  const unread = new Set<string>()
  for (const change of changes) {
    if (change.type === 'turn') next.turns().set(change.row.turn, change.row)
    else if (change.type === 'turn-over') next.turns().delete(change.turn)
    else if (change.type === 'machines') machines.value = change.machines
    else if (change.type === 'disk') fullDisk.value = change.full
    else if (change.type === 'standing') {
      const { type: _, ...standing } = change
      const was = next.agents().get(change.id)
      if (was) next.agents().set(change.id, { ...was, ...standing })
    } else if ('seq' in change) {
      // An event with an unknown name and without a number comes from a newer hub, and is not for this page.
      last = change.seq
      if (change.type === 'mark') next.marks().set(markKey(change.mark), change.mark)
      else if (change.type === 'day') next.days().set(change.day.workspace, change.day)
      else if (change.type === 'pipeline') next.pipelines().set(change.pipeline.id, change.pipeline)
      else if (change.type === 'schedule') next.schedules().set(change.schedule.id, change.schedule)
      else if (change.type === 'unscheduled') next.schedules().delete(change.id)
      else if (change.type === 'machine') next.rules().set(change.rules.machine, change.rules)
      else if (change.type === 'gone') next.agents().delete(change.id)
      else if (change.type === 'removed') {
        added -= change.tasks.length
        for (const id of change.pipelines) next.pipelines().delete(id)
        for (const id of change.tasks) {
          removedTasks.add(id)
          early.delete(id)
          unread.delete(id)
          next.tasks().delete(id)
          if (openTask.value?.id === id) void readOpenTask()
        }
      } else if (change.type === 'agent') {
        const was = next.agents().get(change.agent.id)
        // The hub sends the whole agent: if its question is missing now, the question was answered.
        next.agents().set(change.agent.id, { ...change.agent, waits: was?.waits === true, about: true })
      } else if (change.type === 'task') {
        noteChange(change)
        const was = next.tasks().get(change.id)
        // The hub sends a new task complete.
        const isNew = was === undefined && change.set.created !== undefined
        // Older tasks that were loaded meanwhile may already include the new one.
        if (change.set.created !== undefined) added++
        if (was === undefined && !isNew) unread.add(change.id)
        if (was === undefined && !isNew) early.set(change.id, [...(early.get(change.id) ?? []), change])
        else if (change.seq > (readUpTo.get(change.id) ?? 0))
          next.tasks().set(change.id, briefly(changedTask(was, change)))
      }
    }
  }
  batch(() => {
    tasks.value = next.tasks(false)
    agents.value = next.agents(false)
    marks.value = next.marks(false)
    days.value = next.days(false)
    pipelines.value = next.pipelines(false)
    schedules.value = next.schedules(false)
    rules.value = next.rules(false)
    turns.value = next.turns(false)
    taskCount.value += added
    shownChange.value = last
  })
  if (!isReadingOlder.value) for (const id of unread) void readMissing(id, reading)
}

/** Returns a copy that can be changed, made on the first call; with `false`, returns the present map without copying it. */
function lazyCopy<V>(map: ReadonlyMap<string, V>): { (): Map<string, V>; (copies: false): ReadonlyMap<string, V> } {
  let copy: Map<string, V> | undefined
  return ((copies = true) => (copies ? (copy ??= new Map(map)) : (copy ?? map))) as ReturnType<typeof lazyCopy<V>>
}

/**
 * Lists only need the last note and those that may mention somebody; if all notes were kept, tasks would grow for as long as the page is
 * open.
 */
function briefly(task: Task): Task {
  const { notes, history } = task
  if (notes.length < 2 && history.length < 2) return task
  return {
    ...task,
    // The last step says who resolved an item that waited for a person.
    history: history.slice(-1),
    notes: notes.filter(({ kind, text }, at) => at === notes.length - 1 || (kind === 'comment' && text.includes('@'))),
  }
}
