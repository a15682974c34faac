import type { Task } from '../core/work/task.ts'

/** A task that nobody acknowledges goes back after this long. */
export const ackMs = 30_000
/** So does one whose agent says nothing. */
export const staleMs = 30 * 60_000

export type Back = { task: Task; why: string }

/** What is to go back to the queue, and why. */
export function backAfter(tasks: Iterable<Task>, now: number): Back[] {
  return [...tasks].flatMap((task) => {
    const due = dueAt(task)
    if (due === undefined || due > now) return []
    const why = task.state === 'PENDING_ACK' ? 'nobody acknowledged it' : 'its agent said nothing for 30 minutes'
    return [{ task, why }]
  })
}

/** How long nothing is due, in ms: what is given out from now on is due no sooner than it must be acknowledged. */
export function nextDue(tasks: Iterable<Task>, now: number): number {
  let next = now + ackMs
  for (const task of tasks) next = Math.min(next, dueAt(task) ?? next)
  return Math.max(0, next - now)
}

function dueAt({ state, moved, heard }: Task): number | undefined {
  if (state === 'PENDING_ACK') return moved + ackMs
  return state === 'ASSIGNED' || state === 'IN_PROGRESS' ? Math.max(moved, heard ?? 0) + staleMs : undefined
}
