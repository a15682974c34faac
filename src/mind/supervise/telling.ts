import type { Question } from '../../core/talk/question.ts'

/** Why a supervised agent is at work no more. */
export type Over =
  | { type: 'quit' }
  | { type: 'gave-up'; why: string }
  | { type: 'evicted'; why: string }
  /** Whoever keeps it let go of it. */
  | { type: 'left' }

/** What happens to an agent that is kept at work: each for the log, the last one for the status line. */
export type Told =
  | { type: 'started'; came: Came }
  /** Without a ticket it is at its workflow. */
  | { type: 'working'; ticket?: string }
  /** Nothing to do: it is waited for a task, and no tokens are used. */
  | { type: 'waiting' }
  | { type: 'asking'; question: Question }
  | { type: 'blocked'; ticket: string; question: string }
  | { type: 'nudged'; why: string }
  | { type: 'parked'; until: number; why: string }
  /** In so many ms. */
  | { type: 'restarting'; why: string; in: number }
  /** A task is over: `ok` is false where it failed, `by` says who answered. */
  | { type: 'done'; ticket: string; ok: boolean; by: 'shift' | 'agent'; message: string }
  | { type: 'dropped'; ticket: string; why: string }
  | Over

/** How a CLI came to its terminal: it knows nothing, it went on with its session, or it was there. */
export type Came = 'began' | 'resumed' | 'there'
