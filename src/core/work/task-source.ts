import type { Spent } from './budget.ts'
import type { TaskNote } from './task.ts'

/** What comes for whoever is on duty: a task by its `ticket`, words, the order to leave, or nothing for now. */
export type Order =
  | { type: 'task'; ticket: string; prompt: string; notes: readonly TaskNote[] }
  | { type: 'told'; text: string }
  | { type: 'evict'; why: string }
  | { type: 'none' }

/** `settled`: the agent has answered it by itself. `lost`: it was cancelled, or somebody else has it now. */
export type TicketState = 'kept' | 'settled' | 'lost'

export type Report = { status: 'COMPLETED' | 'FAILED' | 'IN_REVIEW'; message: string }

/**
 * Where work comes from. Nothing here rejects: while nobody answers where it comes from, it is waited out, until the
 * signal aborts.
 */
export interface TaskSource {
  /** Waits as long as it sees fit: `none` means ask again. */
  next(signal: AbortSignal): Promise<Order>
  /** Before anything is typed: what is not `kept` is not done. */
  ack(ticket: string, signal: AbortSignal): Promise<TicketState>
  /** That it is still at work; what says nothing for long is given to somebody else. */
  progress(ticket: string, text: string, signal: AbortSignal): Promise<TicketState>
  /** It cannot go on without an answer, and is free for others. */
  block(ticket: string, question: string, signal: AbortSignal): Promise<TicketState>
  respond(ticket: string, report: Report, signal: AbortSignal): Promise<TicketState>
  /** Resolves with the reason once a task is not to be done any more; never, where nobody takes one back. */
  lost?(ticket: string, signal: AbortSignal): Promise<string | undefined>
  /** Whether the CLI itself waits there now: its silence is no trouble then. */
  waits(): Promise<boolean>
  /** What was used in all. */
  spent(all: Spent): void
}

/** What a task left behind. */
export type TaskChanges = { branch: string; diff: string }

/** Where tasks are worked at. */
export interface TaskWorkspace {
  /** Before anything of a task is typed. */
  begin(task: string): Promise<void>
  /** After its turn; undefined where nothing tells what it changed. */
  end(task: string, message: string): Promise<TaskChanges | undefined>
  /** When nobody works here any more; in words where something has to stay. */
  clear(): Promise<string | undefined>
}
