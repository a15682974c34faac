import type { Clock } from '../../base/clock.ts'
import type { ScreenFacts } from '../../core/work/profile.ts'
import type { Conversation } from '../../core/work/conversation.ts'
import type { Usage } from '../../core/talk/entry.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { Agent, Leash } from '../../core/work/agent.ts'
import type { Budget, Spent } from '../../core/work/budget.ts'
import type { TaskSource } from '../../core/work/task-source.ts'
import type { Came, Told } from './telling.ts'

export type Opened = { agent: Agent; came: Came }

/** Opens the one CLI that is kept at work, on a session of its own where it can go on with it; as lazy as a roster's. */
export type Open = (resume?: string) => Opened

/** How often and how soon a crashed one is started again. */
export type Policy = { mostAnHour: number; firstWaitMs: number; longestWaitMs: number }

export const usualPolicy: Policy = { mostAnHour: 10, firstWaitMs: 1_000, longestWaitMs: 60_000 }

/** A prompt on its way, kept before it is typed: `turn` is the id that its mark is made of. */
export type Flight = { turn: string; prompt: string; ticket?: string }

/** What another process needs to go on where this one was ended: `session` is the CLI's own key. */
export type Kept = { session?: string; flight?: Flight; spent: Spent }

/** All that keeping one agent at work needs. */
export type ShiftParts = {
  open: Open
  /** How the CLI's screen is read. */
  facts: Pick<ScreenFacts, 'reader' | 'composer'>
  duty: TaskSource
  /** What a CLI that knows nothing is told first. */
  workflow: string
  /** How a task is to be reported, in words behind it; left out where the answer itself is the report. */
  reporting?(ticket: string): string
  /** What a finished task becomes; COMPLETED unless told. */
  status?: 'COMPLETED' | 'IN_REVIEW'
  /** Where its turns are kept; left out where its program keeps them with us by itself. */
  conversation?: Pick<Conversation, 'converse'>
  cwd: string
  leash: Leash
  ask: Ask
  budget: Budget
  clock: Clock
  /** Aborts when the agent is let go of. */
  signal: AbortSignal
  /** Whether its program goes on then; else it is ended. */
  outlives?: boolean
  policy?: Policy
  /** What was kept by the process that had it before. */
  kept?: Kept
  keep(kept: Kept): Promise<void>
  tell(told: Told): void
  used?(usage: Usage): void
  mask(text: string): string
}
