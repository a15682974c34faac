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

/** How a CLI came to its terminal: it knows nothing, it continued its own session, or it was there already. */
export type StartKind = 'began' | 'resumed' | 'there'

export type OpenedCli = { agent: Agent; how: StartKind }

/** Opens the CLI that is kept at work, on its own session `resume` if it can continue one; as lazy as a roster's `open`. */
export type OpenCli = (resume?: string) => OpenedCli

/** A prompt on its way, kept before it is typed: its mark in the terminal is made of the id `turn`. */
export type Flight = { turn: string; prompt: string; ticket?: string }

/** The state that another process needs to continue where this one ended: `session` is the CLI's own key. */
export type SupervisedState = { session?: string; flight?: Flight; spent: Spent }

/** Everything a supervisor needs to keep one CLI at work. */
export type SupervisorParts = {
  open: OpenCli
  /** How the CLI's screen is read. */
  facts: Pick<ScreenFacts, 'reader' | 'composer' | 'journal'>
  taskSource: TaskSource
  /** The instructions that a CLI that knows nothing is given first. */
  workflow: string
  /** Instructions on how to report a task; left out if the answer itself is the report. */
  reporting?(ticket: string): string
  /** The status of a finished task; COMPLETED unless given. */
  status?: 'COMPLETED' | 'IN_REVIEW'
  /** The conversation in which turns are kept; left out if the CLI keeps them with termaite itself. */
  conversation?: Pick<Conversation, 'converse'>
  cwd: string
  leash: Leash
  ask: Ask
  budget: Budget
  clock: Clock
  /** Aborts when the supervision stops. */
  signal: AbortSignal
  /** Whether the CLI goes on after the supervision stopped; otherwise it is stopped too. */
  outlives?: boolean
  policy?: RestartPolicy
  /** How long a person may take to decide about a silent program before it is restarted; five minutes unless given. */
  silenceMs?: number
  /** The state that an earlier process kept. */
  kept?: SupervisedState
  keep(state: SupervisedState): Promise<void>
  tell(event: SupervisionEvent): void
  used?(usage: Usage): void
  mask(text: string): string
}

/** Why a supervised agent is no longer at work. */
export type SupervisionEnd =
  | { type: 'quit' }
  | { type: 'gave-up'; why: string }
  | { type: 'evicted'; why: string }
  /** The supervision was stopped. */
  | { type: 'left' }

/** A change in a supervised agent's life: each one is logged, the last one is its status. */
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
