import type { Clock } from '../../base/time/clock.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { AuditBounds, HubAuditBook } from './access/hub-audit.ts'
import type { HubBook } from './hub-book.ts'
import type { HubInviteBook } from './access/invitation.ts'
import type { HubRequestBook } from '../../core/work/hub-request.ts'
import type { HubKeyBook } from './access/hub-key.ts'
import type { InboxMark } from './tasks/inbox.ts'
import type { MachineRules } from './tasks/machine-rules.ts'
import type { Pipeline } from './tasks/pipeline.ts'
import type { Prunable, RemovedTask } from './tasks/removed-tasks.ts'
import type { Schedule } from './plans/schedule.ts'
import type { SignInBook } from './access/sign-in.ts'
import type { WorkspaceDay } from './tasks/spending-cap.ts'
import type { TaskNote } from './tasks/task-note.ts'
import type { HubAgent, Task, TaskBase, TaskFacts, TaskState, TaskStep } from './tasks/task.ts'
import type { TaskTry } from './tasks/task-try.ts'

/** A change at the hub: the fields of a task that were set or unset, and the note, step and try that are new or changed. */
export type HubChange = { seq: number; at: number } & (
  | {
      type: 'task'
      id: string
      set: Partial<Omit<TaskBase, 'notes' | 'history' | 'tries'> & { state: TaskState } & TaskFacts>
      unset?: (keyof TaskFacts | 'wish' | 'cap' | 'allowed' | 'merging')[]
      /** The note that is new or has changed. */
      note?: TaskNote
      step?: TaskStep
      /** The try that is new or has changed. */
      try?: TaskTry
    }
  | { type: 'agent'; agent: HubAgent }
  | { type: 'gone'; id: string }
  | { type: 'mark'; mark: InboxMark }
  | { type: 'day'; day: WorkspaceDay }
  | { type: 'pipeline'; pipeline: Pipeline }
  | { type: 'schedule'; schedule: Schedule }
  | { type: 'unscheduled'; id: string }
  | { type: 'machine'; rules: MachineRules }
  /** Finished tasks, and pipelines with all of their tasks, that were removed at once. */
  | { type: 'removed'; tasks: string[]; pipelines: string[] }
)

/** A change before the ledger has given it its number. */
export type NewChange = Unnumbered<HubChange>

type Unnumbered<C> = C extends unknown ? Omit<C, 'seq'> : never

/** A stored task, with the times by which it is found. The times are those of `LedgerLook.steady`, the monotonic clock. */
export type TaskRow = {
  task: Task
  /** When the task last changed its state, or its agent last reported on it. */
  touched: number
  /** Whether the task is queued and waits for nothing but an agent. */
  ready: boolean
  /** When the task has to be checked again: when its agent's time is over, or when the pause before a retry ends. */
  due?: number
}

/**
 * An agent's request for work: the run of its process, and the number of the request in this run. Behind proxies an abandoned request can
 * arrive after the next one; its lower number reveals that.
 */
export type WorkRequest = { run: string; number: number }

/** A stored agent; the times are those of `LedgerLook.steady`. */
export type AgentRow = {
  agent: HubAgent
  /** When the agent last sent something. */
  heard: number
  /** The connection on which the agent waits for work: the hub that has it, its number at that hub, and when it ends. */
  wait?: { hub: string; number: number; until: number }
  /** When the agent hung up while it waited; missing if it has sent something since. */
  left?: number
  /** The newest of the agent's requests for work, by the agent's own count. */
  asked?: WorkRequest
  /** The task that the agent works on, or worked on last. */
  task?: string
}

/** A stored pipeline. If an agent works on it, `due` is the wall-clock time at which its time is used up. */
export type PipelineRow = { pipeline: Pipeline; due?: number }

/** Selects tasks; the list has the newest first. */
export type TaskQuery = {
  states?: readonly TaskState[]
  workspace?: string
  /** The agent that has a task, or had it last. */
  agent?: string
  pipeline?: string
  /** Only tasks whose id begins or ends with this text. */
  like?: string
  /** Only tasks with a merge that was begun and whose outcome is unknown. */
  merging?: true
  /** Only tasks with a comment that names a person. */
  mentions?: true
  /** Only tasks that follow this task in the list. */
  after?: { created: number; id: string }
  most?: number
}

/** Reads of one moment: nothing changes between them. */
export interface LedgerLook {
  /** The number of the last change, and the name of the series of numbers that it belongs to. */
  readonly seq: number
  readonly epoch: string
  /** The wall-clock time, for everything that people read. */
  readonly now: number
  /** A time that never goes back while the ledger is open, for everything that expires. */
  readonly steady: number
  tasks(ids: readonly string[]): Promise<TaskRow[]>
  list(query: TaskQuery): Promise<TaskRow[]>
  /** How many tasks are in each state, and when the oldest of them was created; states without tasks are left out. */
  counts(): Promise<{ state: TaskState; count: number; oldest: number }[]>
  /** The tasks that these agents have, or that any agent has. */
  held(agents?: readonly string[]): Promise<TaskRow[]>
  agents(ids?: readonly string[]): Promise<AgentRow[]>
  pipelines(ids?: readonly string[]): Promise<PipelineRow[]>
  schedules(ids?: readonly string[]): Promise<Schedule[]>
  days(workspaces?: readonly string[]): Promise<WorkspaceDay[]>
  /** The marks with these keys, or all of them. */
  marks(keys?: readonly string[]): Promise<InboxMark[]>
  /** The rules of these machines, or of all machines that have some; the pause of the whole hub is under the name `wholeHub`. */
  machineRules(machines?: readonly string[]): Promise<MachineRules[]>
  /** How many tasks the agents of these machines have. */
  heldOn(machines: readonly string[]): Promise<{ machine: string; count: number }[]>
  /** The newest notes of a task whose number is below `before`, oldest first. */
  notes(task: string, page: { before?: number; most: number }): Promise<TaskNote[]>
  /** The tasks with these ids that were removed within the last year. */
  removed(ids: readonly string[]): Promise<RemovedTask[]>
  /** Removed tasks whose id begins or ends with a text; at most two, which is enough to know whether the text is unambiguous. */
  removedLike(text: string): Promise<RemovedTask[]>
}

/** The agents that wait at one hub and may be given tasks. */
export type ClaimQuery = {
  /** The ids of the agents, longest waiting first. */
  agents: readonly string[]
  /** Workspaces in which no task may begin now. */
  stopped: readonly string[]
  /** Tasks to leave out, because they were considered already. */
  except: readonly string[]
  /** A task that is meant for one agent may go to another if it was last touched before this time of `steady`. */
  wishedBefore: number
  /** An agent that last reported before this time of `steady`, and does not wait, is away. */
  awayBefore: number
  most: number
}

/** A task that may begin, and the agents of the query that may get it, in order. */
export type Claimable = { task: string; agents: string[] }

/** The rows that a round writes. Rows of tasks, agents and the others replace the stored ones. */
export type LedgerWrites = {
  tasks: readonly TaskRow[]
  agents: readonly AgentRow[]
  /** The ids of agents to remove. */
  gone: readonly string[]
  pipelines: readonly PipelineRow[]
  schedules: readonly Schedule[]
  /** The ids of schedules to remove. */
  unscheduled: readonly string[]
  days: readonly WorkspaceDay[]
  marks: readonly InboxMark[]
  machines: readonly MachineRules[]
  notes: readonly { task: string; note: TaskNote }[]
  /** Tasks to remove with their notes and marks; their ids are remembered for a year. The round must have read them. */
  removed: readonly RemovedTask[]
  /** The ids of pipelines to remove. */
  removedPipelines: readonly string[]
  /** The changes of the round, in the order in which they happened. */
  changes: readonly NewChange[]
}

/** The writes of a round that changes nothing. */
export const emptyWrites: LedgerWrites = {
  tasks: [],
  agents: [],
  gone: [],
  pipelines: [],
  schedules: [],
  unscheduled: [],
  days: [],
  marks: [],
  machines: [],
  notes: [],
  removed: [],
  removedPipelines: [],
  changes: [],
}

/**
 * A round: reads and writes that happen as a whole or not at all. No other round can change the rows that this one reads by their ids
 * until it is over.
 */
export interface LedgerRound extends LedgerLook {
  /** Tasks that others need: no round changes them until this one is over, and neither does this one. */
  needs(ids: readonly string[]): Promise<TaskRow[]>
  /** The queued tasks that need one of these tasks. */
  dependents(ids: readonly string[]): Promise<TaskRow[]>
  /** All tasks of these pipelines, in the order of their ids. */
  tasksOf(pipelines: readonly string[]): Promise<TaskRow[]>
  /** Open tasks whose `due` or deadline has passed, without those that another round has locked right now. */
  overdue(most: number): Promise<TaskRow[]>
  /**
   * Finished tasks that were last touched more than `keptMs` ago and may be removed: no open task needs them, no merge of them is
   * running, and all tasks of their pipeline may be removed as well. The longest untouched come first; those that another round has
   * locked right now are left out.
   */
  expired(keptMs: number, most: number): Promise<TaskRow[]>
  /** The ids of those tasks that an open task needs. */
  needed(ids: readonly string[]): Promise<string[]>
  /** Pipelines whose `due` has passed, and schedules whose next time has come. */
  overduePipelines(): Promise<PipelineRow[]>
  dueSchedules(): Promise<Schedule[]>
  /** The ids of those agents that have a message or have to leave. */
  called(agents: readonly string[]): Promise<string[]>
  /**
   * Announces that this round may have made room for a ready task, for example by resuming an agent, so that every hub looks for tasks.
   */
  call(): void
  /** Ready tasks that one of the agents may get, in the order in which tasks are given out. Nothing is locked. */
  claimable(query: ClaimQuery): Promise<Claimable[]>
  /** Tasks by their ids, without those that another round has locked right now. */
  claim(tasks: readonly string[]): Promise<TaskRow[]>
  /**
   * Writes rows that the round has changed. The last call ends the round and is the only one with changes; it returns them, and they get
   * their numbers by the time the round is over. Earlier calls let the round's own queries find its rows.
   */
  write(writes: LedgerWrites): Promise<HubChange[]>
}

/** An announcement of the ledger: `claimable` says that a task or a message may wait for an agent. */
export type LedgerNews = { seq: number; claimable: boolean }

/**
 * Stores the hub's agents, tasks, changes, keys and sign-ins. Every note of a task is stored, even one that the task no longer carries.
 * Several hubs may open one ledger if it allows that.
 */
export interface HubLedger {
  readonly keys: HubKeyBook
  readonly invites: HubInviteBook
  readonly signIns: SignInBook
  /** The requests that clients may send again. */
  readonly requests: HubRequestBook
  /** Long texts of tasks, such as diffs. */
  readonly blobs: Blobs
  /** The clock of the ledger, by which all hubs that share it have the same wall-clock time. */
  readonly clock: Clock
  /** Whether several hubs may have the ledger open at once. */
  readonly isShared: boolean
  /** The address book and the audit that all hubs of the ledger share; a hub with its own ledger has its own. */
  readonly book?: HubBook
  audit?(bounds?: AuditBounds): HubAuditBook
  /**
   * Runs the work as one round, which is durable when the promise resolves. The work runs again if another round was in its way; if it
   * throws, nothing is changed. The work gets the result of `early`, whose reads need neither the time nor the number of the round: a
   * remote ledger sends them together with the beginning of the round.
   */
  round<T, E = undefined>(
    work: (round: LedgerRound, early: E) => Promise<T>,
    early?: (round: LedgerRound) => Promise<E>,
  ): Promise<T>
  look<T>(work: (look: LedgerLook) => Promise<T>): Promise<T>
  /** The time in ms until the next row is due; undefined if no row is. */
  untilDue(): Promise<number | undefined>
  /** The changes after a number, oldest first; undefined if some of them are no longer stored, or the number belongs to another epoch. */
  since(seq: number, most: number, epoch?: string): Promise<HubChange[] | undefined>
  /**
   * Calls `told` after each round of any hub that made changes, and after a time without a connection. Returns a function that stops
   * this.
   */
  listen(told: (news: LedgerNews) => void): () => void
  /** Counts what would be removed with the finished tasks that were last touched more than `keptMs` ago. */
  prunable(keptMs: number): Promise<Prunable>
  /** The size of the ledger in bytes, without long texts that are stored beside it. */
  bytes(): Promise<number>
  /** The free bytes on the disk of the ledger, if that disk is on this machine. */
  freeBytes?(): number | undefined
  /**
   * Writes a copy of one moment beside the ledger and returns its path, for a ledger that only one process can open. Long texts are not
   * copied.
   */
  copy?(): Promise<string>
  /** Returns part of the space of removed rows to the disk, for a ledger that has to do that itself. */
  shrink?(): Promise<void>
  /** Removes long texts that no task refers to, except those stored within the last day, because a task that refers to one may follow. */
  sweep(): Promise<void>
  /** Replaces each task of an older termaite by the result of `change`; does nothing if that was done before. */
  adopt?(change: (task: Task) => Promise<Task>): Promise<void>
  close(): Promise<void>
}

/** The states in which an agent has a task. */
export const heldStates: readonly TaskState[] = ['PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS']

/** The states in which a task is over. */
export const finishedStates: readonly TaskState[] = ['APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED']

/** The fields of a task that decide when it is given out. */
export type QueuedTask = Pick<Task, 'id' | 'priority' | 'created'>

/** The order in which tasks are given out: by priority, then by age. Two tasks may have the same time of creation. */
export function goesBefore(a: QueuedTask, b: QueuedTask): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority
  return a.created === b.created ? a.id < b.id : a.created < b.created
}

/** The wall-clock time at which an open task fails unless it is done; undefined if it has no deadline, or only waits for its review. */
export function deadlineOf({ state, pipeline }: Task): number | undefined {
  return finishedStates.includes(state) || state === 'IN_REVIEW' ? undefined : pipeline?.deadline
}

/** The ids of the long texts that a task refers to: diffs, outputs of checks, files. */
export function textsOf(task: Task, json = JSON.stringify(task)): string[] {
  return [...new Set(json.match(/\b[0-9a-f]{64}\b/g))]
}

/** The wall-clock time at which a schedule runs next; undefined if it is paused or has no time left. */
export function nextRunOf({ next, paused }: Schedule): number | undefined {
  return paused ? undefined : next
}

/** Whether a comment on the task may name a person. */
export function mayMention({ notes }: Task): boolean {
  return notes.some(({ kind, text }) => kind === 'comment' && text.includes('@'))
}
