import type { Spent } from '../../../core/work/budget.ts'
import type { TryBundle } from './task-try.ts'
import type { TaskOrigin } from './workspace.ts'
import type { TaskNote } from './task-note.ts'

/**
 * An order for a supervised agent: a task by its `ticket`, a text to pass on, to leave, or nothing for now. `refused`: the source no longer
 * gives orders to the agent.
 */
export type WorkOrder =
  | { type: 'task'; ticket: string; prompt: string; notes: readonly TaskNote[] }
  | { type: 'told'; text: string }
  | { type: 'evict'; why: string }
  | { type: 'refused'; why: string }
  | { type: 'none' }

/** Whether a task still belongs to the agent. `settled`: the agent has answered it itself; `lost`: it was cancelled, or another agent has it. */
export type TicketState = 'kept' | 'settled' | 'lost'

/** A report that could not be made as intended: the task waits for a person, with this question. */
export type BlockedReport = { blocked: string }

/**
 * Whether an agent may begin a task. `moved`: it may, but its folder was gone and was made again, so that a program in the old folder has
 * to be restarted. `unready`: the folder cannot be prepared for any task; this one was given back, and the agent must not take another one.
 */
export type TaskStart = TicketState | 'moved' | { unready: string }

export type TaskReport = { status: 'COMPLETED' | 'FAILED' | 'IN_REVIEW'; message: string }

/** Gives a supervised agent its work. No call rejects: an unreachable source is retried until the signal aborts. */
export interface TaskSource {
  /** Waits for an order as long as the source sees fit; after `none` the caller asks again. */
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
  /** Resolves with the reason once a task was cancelled or given away; left out if tasks are never taken back. */
  revoked?(ticket: string, signal: AbortSignal): Promise<string | undefined>
  /** Whether the CLI itself polls the source for work: then its silence is not a problem. */
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
 * How the work of a task reaches people on other machines: `pushed` names the remote that has the branch, `bundle` is the branch for the
 * hub, whose parts are read one by one. `notes` are shown to the person at the agent's machine.
 */
export type CarriedWork = {
  pushed?: string
  bundle?: TryBundle
  part?(number: number): Promise<Uint8Array>
  notes: string[]
}

/** Brings the work of tasks to people on other machines. */
export interface WorkCarrier {
  /** Never rejects: the notes say what could not be done. */
  prepare(work: TaskChanges, signal: AbortSignal): Promise<CarriedWork>
}

/** A check that ran on the work of a task: `whole` is its whole output if `output` leaves something out. */
export type RanCheck = { command: string; exit?: number; why?: string; ms: number; output: string; whole?: string }

/** Runs the checks of a workspace on the work of a task. */
export interface TaskChecks {
  /** Returns the checks that ran before the signal aborted; `begins` is called before each. */
  run(work: TaskChanges, signal: AbortSignal, begins: (command: string) => void): Promise<RanCheck[]>
}

/** The workspace of a task, and the place from which a person added it. */
export type WantedWorkspace = { workspace: string; origin?: TaskOrigin }

/** Thrown if the folder of one task cannot be prepared, as when its repository cannot be cloned. */
export class UnfitTask extends Error {}

/** The folder in which tasks are worked on. */
export interface TaskWorkspace {
  /** The folder of a task in a workspace in which each task has its own folder; the agent's prompt names it. */
  folder?(task: string, wanted: WantedWorkspace): string
  /** The folder that contains the work of the task now; left out if it is the person's own. */
  path?(): string | undefined
  /**
   * Prepares the folder before anything of a task is typed. Rejects with an UnfitTask if other tasks could still be worked on. Returns
   * `remade` if the folder was gone and was made again.
   */
  begin(task: string, wanted: WantedWorkspace, signal: AbortSignal): Promise<'remade' | void>
  /** Collects a task's changes after its turn, in a commit with this title; undefined if changes cannot be determined. */
  end(task: string, title: string): Promise<TaskChanges | undefined>
  /** Reverts what checks have changed in the folder since the end of a task. */
  restore?(): Promise<void>
  /** Removes the folder when no agent works in it any more; returns the reason if it has to stay. */
  clear(): Promise<string | undefined>
}

/** The files of tasks in the folder that the agent works in. */
export interface TaskFiles {
  /** The path of a file of a task, as its agent gets it. */
  path(task: string, name: string): string
  save(task: string, name: string, body: Uint8Array): Promise<void>
  clear(task: string): Promise<void>
}
