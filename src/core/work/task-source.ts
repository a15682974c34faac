import type { Spent } from './budget.ts'
import type { FileChange } from './task-changes.ts'
import type { TaskNote } from './task.ts'

/** An order for a supervised agent: a task by its `ticket`, words to be told, to leave, or nothing for now. */
export type WorkOrder =
  | { type: 'task'; ticket: string; prompt: string; notes: readonly TaskNote[] }
  | { type: 'told'; text: string }
  | { type: 'evict'; why: string }
  | { type: 'none' }

/** Whether a task still belongs to the agent. `settled`: the agent has answered it itself; `lost`: it was cancelled, or another agent has it. */
export type TicketState = 'kept' | 'settled' | 'lost'

export type TaskReport = { status: 'COMPLETED' | 'FAILED' | 'IN_REVIEW'; message: string }

/** Gives a supervised agent its work. No call rejects: an unreachable source is retried until the signal aborts. */
export interface TaskSource {
  /** Waits for an order as long as the source sees fit: `none` means ask again. */
  next(signal: AbortSignal): Promise<WorkOrder>
  /** Claims a task before anything is typed: a task that is not `kept` is not done. */
  ack(ticket: string, signal: AbortSignal): Promise<TicketState>
  /** Says that the agent is still at work: a silent task is given to another agent. */
  progress(ticket: string, text: string, signal: AbortSignal): Promise<TicketState>
  /** Says that the task needs an answer; the agent is free for other tasks meanwhile. */
  block(ticket: string, question: string, signal: AbortSignal): Promise<TicketState>
  respond(ticket: string, report: TaskReport, signal: AbortSignal): Promise<TicketState>
  /** Resolves with the reason once a task was cancelled or given away; left out where tasks are never taken back. */
  revoked?(ticket: string, signal: AbortSignal): Promise<string | undefined>
  /** Whether the CLI itself polls the source for work: its silence is no trouble then. */
  cliPolls(): Promise<boolean>
  reportUsage(total: Spent): void
}

/** The branch and the changes that a task left behind. */
export type TaskChanges = { branch: string; worktree: string; files: FileChange[]; diff: string }

/** The folder in which tasks are worked on. */
export interface TaskWorkspace {
  /** Prepares the folder before anything of a task is typed. */
  begin(task: string): Promise<void>
  /** Collects a task's changes after its turn; undefined where changes cannot be told. */
  end(task: string, message: string): Promise<TaskChanges | undefined>
  /** Removes the folder when no agent works in it any more; gives the reason where it has to stay. */
  clear(): Promise<string | undefined>
}
