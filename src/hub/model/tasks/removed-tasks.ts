import type { TaskState } from './task.ts'
import { durationText } from '../../../base/time/duration.ts'

/** A finished task that was removed: its final state, when it was removed, and after how long without a change. */
export type RemovedTask = { id: string; state: TaskState; at: number; keptMs: number }

/** How long the ids of removed tasks are remembered, so that somebody who asks for such a task learns that it was removed. */
export const rememberedMs = 365 * 86_400_000

/**
 * Everything that would be removed with finished tasks that are older than a given age. `bytes` is the size of the tasks, their notes and their long
 * texts.
 */
export type Prunable = {
  tasks: { state: TaskState; count: number }[]
  pipelines: number
  notes: number
  /** Long texts, such as diffs and files, that no other task refers to. */
  texts: number
  bytes: number
}

/** One part of a removal; `more` says that there may be more to remove. */
export type Pruned = { tasks: number; pipelines: number; more: boolean }

/** The message about a task that was removed. */
export function removedWords({ id, state, keptMs }: RemovedTask): string {
  const after = keptMs > 0 ? ` after ${ageWords(keptMs)}` : ''
  return `Task ${id} was ${state} and was removed${after}, as the hub's operator has set.`
}

/** Formats a retention period: "90 days", or a shorter one as "12h". */
export function ageWords(ms: number): string {
  const days = Math.round(ms / 86_400_000)
  if (ms < 86_400_000) return durationText(ms)
  return days === 1 ? '1 day' : `${days} days`
}

/** The inbox marks of a task begin with one of these texts. */
export const marksOf = (task: string) => [
  ...['blocked', 'review', 'failed', 'mention'].map((kind) => `${kind} ${task} `),
  `looked ${task}\n`,
]
