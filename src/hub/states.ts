import type { Task, TaskState } from '../core/work/task.ts'
import type { Work } from '../core/work/depends.ts'

const held: TaskState[] = ['QUEUED', 'BLOCKED', 'IN_REVIEW', 'COMPLETED', 'FAILED', 'CANCELLED']

/** What may follow what: nothing else ever does. */
export const moves: Readonly<Record<TaskState, readonly TaskState[]>> = {
  QUEUED: ['PENDING_ACK', 'FAILED', 'CANCELLED'],
  PENDING_ACK: ['ASSIGNED', 'QUEUED', 'FAILED', 'CANCELLED'],
  ASSIGNED: ['IN_PROGRESS', ...held],
  IN_PROGRESS: held,
  BLOCKED: ['QUEUED', 'FAILED', 'CANCELLED'],
  IN_REVIEW: ['APPROVED', 'QUEUED', 'FAILED', 'CANCELLED'],
  APPROVED: [],
  COMPLETED: [],
  FAILED: ['QUEUED'],
  CANCELLED: ['QUEUED'],
}

/** Whether an agent works at it, or was just given it. */
export function isHeld({ state }: Task): boolean {
  return state === 'PENDING_ACK' || state === 'ASSIGNED' || state === 'IN_PROGRESS'
}

export function isOver({ state }: Task): boolean {
  return state === 'APPROVED' || state === 'COMPLETED' || state === 'FAILED' || state === 'CANCELLED'
}

/** A task as others wait for it. */
export function workOf({ id, needs, state, why }: Task): Work {
  if (state === 'COMPLETED' || state === 'APPROVED') return { id, needs, state: 'done' }
  if (state === 'FAILED' || state === 'CANCELLED')
    return { id, needs, state: 'dead', why: brief(why ?? state.toLowerCase()) }
  return { id, needs, state: state === 'QUEUED' ? 'waiting' : 'running' }
}

/** Of a long story of who failed because of whom, the beginning and the end. */
function brief(why: string): string {
  return why.length <= 300 ? why : `${why.slice(0, 100)} … ${why.slice(-200)}`
}
