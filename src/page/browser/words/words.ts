import type { Task, TaskState } from '../../../hub/model/tasks/task.ts'
import { signal } from '@preact/signals'

/** The present time, for ages on the page; it is updated every half minute. */
export const now = signal(Date.now())
setInterval(() => (now.value = Date.now()), 30_000)

const steps: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [30, 'day'],
  [12, 'month'],
  [Infinity, 'year'],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

/** Formats how long ago a moment was, such as "2 min. ago". */
export function ago(at: number): string {
  let amount = Math.min(0, at - now.value) / 1000
  for (const [size, unit] of steps) {
    if (Math.abs(amount) < size) return unit === 'second' ? 'just now' : relative.format(Math.round(amount), unit)
    amount /= size
  }
  return ''
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export const moment = (at: number) => exact.format(at)

const today = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const otherDay = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: 'numeric',
  minute: '2-digit',
})

/** Formats a time of day, such as "17:11", with the day if that is not today. */
export function clockTime(at: number): string {
  const isToday = new Date(at).toDateString() === new Date(now.value).toDateString()
  return (isToday ? today : otherDay).format(at)
}

/** The columns of the board, and the states of the tasks in each. */
export const columns: readonly { name: string; states: readonly TaskState[] }[] = [
  { name: 'To do', states: ['QUEUED', 'PENDING_ACK'] },
  { name: 'In progress', states: ['ASSIGNED', 'IN_PROGRESS'] },
  { name: 'Blocked', states: ['BLOCKED'] },
  { name: 'In review', states: ['IN_REVIEW'] },
  { name: 'Done', states: ['APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED'] },
]

export const stateNames: Record<TaskState, string> = {
  QUEUED: 'waiting',
  PENDING_ACK: 'offered',
  ASSIGNED: 'taken',
  IN_PROGRESS: 'working',
  BLOCKED: 'blocked',
  IN_REVIEW: 'in review',
  APPROVED: 'approved',
  COMPLETED: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
}

export const stateName = ({ state }: Pick<Task, 'state'>) => stateNames[state]

export const firstLine = (text: string) => text.split('\n', 1)[0]!

export const count = (number: number) => number.toLocaleString('en')

export function tokenWords(tokens: number): string {
  return tokens < 10_000 ? count(tokens) : `${count(Math.round(tokens / 1000))}k`
}

/** Formats a fraction from 0 to 1, such as "40 %". */
export const percent = (part: number) => `${Math.round(part * 100)} %`

/** Formats a duration: "0.8 s", "42 s", "3 min 20 s", "2 h 5 min". */
export function durationWords(ms: number): string {
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
