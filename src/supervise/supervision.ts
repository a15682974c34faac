import type { Clock } from '../base/time/clock.ts'
import type { Usage } from '../core/talk/entry.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import type { Agent, Leash } from '../core/work/agent.ts'
import type { Budget } from '../core/work/budget.ts'
import type { Conversation } from '../core/work/conversation.ts'
import type { ScreenFacts } from '../core/profile/profile.ts'
import type { Spent } from '../core/work/budget.ts'
import type { TaskSource } from '../hub/model/tasks/task-source.ts'
import type { RestartPolicy } from './restart-policy.ts'

/** How a CLI came to its terminal: it has no history, it continued its own session, or it already ran there. */
export type StartKind = 'began' | 'resumed' | 'there'

export type OpenedCli = { agent: Agent; how: StartKind }

/**
 * Opens the CLI to supervise, with its own session `resume` if it can continue one; nothing runs before the first use, as with a roster's
 * `open`.
 */
export type OpenCli = (resume?: string) => OpenedCli

/** A prompt on its way, stored before it is typed: its mark in the terminal is derived from the id `turn`. */
export type Flight = { turn: string; prompt: string; ticket?: string }

/** The state that another process needs to continue after this one: `session` is the CLI's own key. */
export type SupervisedState = { session?: string; flight?: Flight; spent: Spent }

/** Everything that a supervisor needs to keep one CLI running. */
export type SupervisorParts = {
  open: OpenCli
  /** How the CLI's screen is read. */
  facts: Pick<ScreenFacts, 'reader' | 'composer' | 'journal'>
  taskSource: TaskSource
  /** The instructions that a CLI without a history gets first. */
  workflow: string
  /** Instructions on how to report a task; missing if the answer itself is the report. */
  reporting?(ticket: string): string
  /** The status of a finished task; COMPLETED by default. */
  status?: 'COMPLETED' | 'IN_REVIEW'
  /** The conversation that stores the turns; missing if the CLI itself stores them with termaite. */
  conversation?: Pick<Conversation, 'converse'>
  cwd: string
  leash: Leash
  ask: Ask
  budget: Budget
  clock: Clock
  /** Aborts when the supervision stops. */
  signal: AbortSignal
  /** Whether the CLI continues after the supervision stopped; otherwise it is stopped too. */
  outlives?: boolean
  policy?: RestartPolicy
  /** How long a person may take to decide about a silent program before it is restarted; five minutes by default. */
  silenceMs?: number
  /** The state that an earlier process stored. */
  kept?: SupervisedState
  keep(state: SupervisedState): Promise<void>
  tell(event: SupervisionEvent): void
  used?(usage: Usage): void
  mask(text: string): string
}

/** Why a supervised agent no longer works. */
export type SupervisionEnd =
  | { type: 'quit' }
  | { type: 'gave-up'; why: string }
  | { type: 'evicted'; why: string }
  /** The supervision was stopped. */
  | { type: 'left' }

/** A change in a supervised agent's life: each one is logged, and the last one is its status. */
export type SupervisionEvent =
  | { type: 'started'; how: StartKind }
  /** Without a ticket the agent is reading its workflow. */
  | { type: 'working'; ticket?: string }
  /** The agent has no task; no tokens are used. */
  | { type: 'waiting' }
  | { type: 'asking'; question: Question }
  | { type: 'blocked'; ticket: string; question: string }
  | { type: 'nudged'; why: string }
  | { type: 'parked'; until: number; why: string }
  /** The restart comes after `in` milliseconds. */
  | { type: 'restarting'; why: string; in: number }
  /** A task is over: `ok` is false if it failed, `by` says who reported it. */
  | { type: 'done'; ticket: string; ok: boolean; by: 'supervisor' | 'agent'; message: string }
  | { type: 'dropped'; ticket: string; why: string }
  | SupervisionEnd
