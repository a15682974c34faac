import type { Spent } from '../../../core/work/budget.ts'
import type { TryBundle } from './task-try.ts'
import type { TaskOrigin } from './workspace.ts'
import type { TaskNote } from './task-note.ts'

/** An order for a supervised agent: a task by its `ticket`, words to be told, to leave, or nothing for now. `refused`: the source gives the agent no orders any more. */
export type WorkOrder =
  | { type: 'task'; ticket: string; prompt: string; notes: readonly TaskNote[] }
  | { type: 'told'; text: string }
  | { type: 'evict'; why: string }
  | { type: 'refused'; why: string }
  | { type: 'none' }

/** Whether a task still belongs to the agent. `settled`: the agent has answered it itself; `lost`: it was cancelled, or another agent has it. */
export type TicketState = 'kept' | 'settled' | 'lost'

/** A report that could not be made as it was meant: the task waits for a person, with this question. */
export type BlockedReport = { blocked: string }

/**
 * Whether an agent may begin a task. `moved`: it may, and its folder was gone and was made again, so that a program in the old
 * folder has to be started again. `unready`: the folder cannot be prepared for any task; this one was given back, and the agent is
 * to take no other one.
 */
export type TaskStart = TicketState | 'moved' | { unready: string }

export type TaskReport = { status: 'COMPLETED' | 'FAILED' | 'IN_REVIEW'; message: string }

/** Gives a supervised agent its work. No call rejects: an unreachable source is retried until the signal aborts. */
export interface TaskSource {
  /** Waits for an order as long as the source sees fit: `none` means ask again. */
  next(signal: AbortSignal): Promise<WorkOrder>
  /** Claims a task before anything is typed: a task that is neither `kept` nor `moved` is not done. */
  ack(ticket: string, signal: AbortSignal): Promise<TaskStart>
  /** Says that the agent is still at work: a silent task is given to another agent. */
  progress(ticket: string, text: string, signal: AbortSignal): Promise<TicketState>
  /** Says that the task needs an answer; the agent is free for other tasks meanwhile. */
  block(ticket: string, question: string, signal: AbortSignal): Promise<TicketState>
  respond(ticket: string, report: TaskReport, signal: AbortSignal): Promise<TicketState | BlockedReport>
  /** Keeps the work of a task that was taken away while the agent worked on it. */
  abandoned?(ticket: string, why: string, signal: AbortSignal): Promise<void>
  /** Resolves with the reason once a task was cancelled or given away; left out where tasks are never taken back. */
  revoked?(ticket: string, signal: AbortSignal): Promise<string | undefined>
  /** Whether the CLI itself polls the source for work: its silence is no trouble then. */
  cliPolls(): Promise<boolean>
  reportUsage(total: Spent): void
}

/** The branch and the changes that a task left behind. `cut`: the diff is longer than the hub keeps, and its end is left out. */
export type TaskChanges = {
  branch: string
  worktree: string
  /** The commit that the branch began at, and its last one. */
  base: string
  commit: string
  diff: string
  cut?: true
}

/**
 * How the work of a task reaches people on other machines: `pushed` names the remote that has the branch, `bundle` is the branch for
 * the hub, whose parts are read one by one. `notes` are told to the person at the agent's machine.
 */
export type CarriedWork = {
  pushed?: string
  bundle?: TryBundle
  part?(number: number): Promise<Uint8Array>
  notes: string[]
}

/** Brings the work of tasks to people on other machines. */
export interface WorkCarrier {
  /** Never rejects: what could not be done is told in the notes. */
  prepare(work: TaskChanges, signal: AbortSignal): Promise<CarriedWork>
}

/** A check that ran on the work of a task: `whole` is its whole output, where `output` leaves something out. */
export type RanCheck = { command: string; exit?: number; why?: string; ms: number; output: string; whole?: string }

/** Runs the checks of a workspace on the work of a task. */
export interface TaskChecks {
  /** Returns the checks that ran before the signal aborted; `begins` is called before each. */
  run(work: TaskChanges, signal: AbortSignal, begins: (command: string) => void): Promise<RanCheck[]>
}

/** The workspace of a task, and where the person stood who added it. */
export type WantedWorkspace = { workspace: string; origin?: TaskOrigin }

/** Thrown where the folder of one task cannot be prepared, as when its repository cannot be cloned. */
export class UnfitTask extends Error {}

/** The folder in which tasks are worked on. */
export interface TaskWorkspace {
  /** The folder of a task in a workspace, where each task has one of its own; its agent is told where. */
  folder?(task: string, wanted: WantedWorkspace): string
  /** The folder that holds the work of the task now; left out where it is the person's own. */
  path?(): string | undefined
  /** Prepares the folder before anything of a task is typed. Rejects with an UnfitTask where other tasks could be worked on. Returns `remade` where the folder was gone and was made again. */
  begin(task: string, wanted: WantedWorkspace, signal: AbortSignal): Promise<'remade' | void>
  /** Collects a task's changes after its turn, in a commit with this title; undefined where changes cannot be told. */
  end(task: string, title: string): Promise<TaskChanges | undefined>
  /** Takes back what checks have changed in the folder since the end of a task. */
  restore?(): Promise<void>
  /** Removes the folder when no agent works in it any more; gives the reason where it has to stay. */
  clear(): Promise<string | undefined>
}

/** The files of tasks in the folder that the agent works in. */
export interface TaskFiles {
  /** Where a file of a task is, as its agent is told. */
  path(task: string, name: string): string
  save(task: string, name: string, body: Uint8Array): Promise<void>
  clear(task: string): Promise<void>
}
