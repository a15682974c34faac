import type { Spent } from '../../../core/work/budget.ts'
import type { TryBundle } from './task-try.ts'
import type { TaskOrigin } from './workspace.ts'
import type { TaskNote } from './task-note.ts'

/**
 * An order for a supervised agent: a task with its `ticket`, a text to pass on, an order to leave, or nothing for now. `refused`: the
 * source no longer gives this agent orders.
 */
export type WorkOrder =
  | { type: 'task'; ticket: string; prompt: string; notes: readonly TaskNote[] }
  | { type: 'told'; text: string }
  | { type: 'evict'; why: string }
  | { type: 'refused'; why: string }
  | { type: 'none' }

/** Whether a task still belongs to the agent. `settled`: the agent has answered it itself; `lost`: it was cancelled, or another agent has it. */
export type TicketState = 'kept' | 'settled' | 'lost'

/** A report that could not be made as intended: the task waits for a person to answer this question. */
export type BlockedReport = { blocked: string }

/**
 * Whether an agent may begin a task. `moved`: it may, but its folder was missing and was created again, so that a program in the old
 * folder has to be restarted. `unready`: no folder can be prepared for any task; this task was given back, and the agent must not take
 * another one.
 */
export type TaskStart = TicketState | 'moved' | { unready: string }

export type TaskReport = { status: 'COMPLETED' | 'FAILED' | 'IN_REVIEW'; message: string }

/** Gives a supervised agent its work. No call rejects: an unreachable source is retried until the signal aborts. */
export interface TaskSource {
  /** Waits for an order as long as the source likes; after `none` the caller asks again. */
  next(signal: AbortSignal): Promise<WorkOrder>
  /** Claims a task before anything is typed: the agent only works on a task that is `kept` or `moved`. */
  ack(ticket: string, signal: AbortSignal): Promise<TaskStart>
  /** Reports that the agent is still working: a silent task is given to another agent. */
  progress(ticket: string, text: string, signal: AbortSignal): Promise<TicketState>
  /** Reports that the task needs an answer; meanwhile the agent is free for other tasks. */
  block(ticket: string, question: string, signal: AbortSignal): Promise<TicketState>
  respond(ticket: string, report: TaskReport, signal: AbortSignal): Promise<TicketState | BlockedReport>
  /** Saves the work of a task that was taken away while the agent worked on it. */
  abandoned?(ticket: string, why: string, signal: AbortSignal): Promise<void>
  /** Resolves with the reason once a task was cancelled or given away; missing if the source never takes tasks back. */
  revoked?(ticket: string, signal: AbortSignal): Promise<string | undefined>
  /** Whether the CLI itself asks the source for work: then its silence is not a problem. */
  cliPolls(): Promise<boolean>
  reportUsage(total: Spent): void
}

/** The branch and the changes that a task left behind. `cut`: the diff is longer than the hub stores, and its end is missing. */
export type TaskChanges = {
  branch: string
  worktree: string
  /** The commit from which the branch began, and its last commit. */
  base: string
  commit: string
  diff: string
  cut?: true
}

/**
 * How the work of a task gets to people on other machines: `pushed` names the remote that has the branch, `bundle` is the branch for the
 * hub, whose parts are read one by one. `notes` are shown to the person at the agent's machine.
 */
export type CarriedWork = {
  pushed?: string
  bundle?: TryBundle
  part?(number: number): Promise<Uint8Array>
  notes: string[]
}

/** Sends the work of tasks to people on other machines. */
export interface WorkCarrier {
  /** Never rejects: the notes say what could not be done. */
  prepare(work: TaskChanges, signal: AbortSignal): Promise<CarriedWork>
}

/** A check that ran on the work of a task: `whole` is its whole output if `output` is shortened. */
export type RanCheck = { command: string; exit?: number; why?: string; ms: number; output: string; whole?: string }

/** Runs the checks of a workspace on the work of a task. */
export interface TaskChecks {
  /** Returns the checks that ran before the signal aborted; `begins` is called before each check. */
  run(work: TaskChanges, signal: AbortSignal, begins: (command: string) => void): Promise<RanCheck[]>
}

/** The workspace of a task, and the place from which a person added it. */
export type WantedWorkspace = { workspace: string; origin?: TaskOrigin }

/** Thrown if the folder for this one task cannot be prepared, for example because its repository cannot be cloned. */
export class UnfitTask extends Error {}

/** The folder in which tasks are worked on. */
export interface TaskWorkspace {
  /** The folder for a task, if each task has its own folder; the agent's prompt names it. */
  folder?(task: string, wanted: WantedWorkspace): string
  /** The folder that contains the work of the current task; missing if it is the person's own folder. */
  path?(): string | undefined
  /**
   * Prepares the folder before anything of a task is typed. Rejects with an UnfitTask if other tasks could still be worked on. Returns
   * `remade` if the folder was missing and was created again.
   */
  begin(task: string, wanted: WantedWorkspace, signal: AbortSignal): Promise<'remade' | void>
  /** Collects a task's changes after its turn, in a commit with this title; undefined if the changes cannot be determined. */
  end(task: string, title: string): Promise<TaskChanges | undefined>
  /** Reverts the changes that checks made in the folder after the end of a task. */
  restore?(): Promise<void>
  /** Removes the folder once no agent works in it; returns the reason if it has to stay. */
  clear(): Promise<string | undefined>
}

/** The files of tasks in the folder that the agent works in. */
export interface TaskFiles {
  /** The path under which the agent finds a file of a task. */
  path(task: string, name: string): string
  save(task: string, name: string, body: Uint8Array): Promise<void>
  clear(task: string): Promise<void>
}
