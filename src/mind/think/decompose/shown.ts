import type { Event, PlanItem } from '../../../core/talk/entry.ts'
import type { TreeTask } from './tree.ts'
import { depthOf, pieces } from './tree.ts'

const longestTitle = 80

/** A task in one line. */
export function titleOf({ task }: Pick<TreeTask, 'task'>): string {
  const line = task.trim().split('\n')[0]!
  return line.length <= longestTitle ? line : `${line.slice(0, longestTitle - 1).trimEnd()}…`
}

/** How far it is, as "3 of 7". */
export function progressOf(tasks: readonly TreeTask[]): { done: number; of: number } {
  const all = pieces(tasks)
  return { done: all.filter(({ state }) => state === 'done').length, of: all.length }
}

const status: Record<TreeTask['state'], PlanItem['status']> = {
  waiting: 'pending',
  running: 'in_progress',
  done: 'completed',
  dead: 'pending',
}

/** Everything there is to do in the order it is done, for whoever watches. */
export function planOf(tasks: readonly TreeTask[]): Event {
  const items = pieces(tasks).map((task) => ({
    task:
      task.state === 'dead'
        ? `${titleOf(task)} (${task.failed === undefined ? 'not begun' : 'failed'})`
        : titleOf(task),
    status: status[task.state],
  }))
  return { type: 'plan', items, by: 'termaite' }
}

const marks: Record<TreeTask['state'], string> = { waiting: ' ', running: '>', done: 'x', dead: '!' }

/** The tree as it stands; terse, since everybody who acts is told it. */
export function drawn(tasks: readonly TreeTask[]): string {
  return tasks
    .map((task) => `${'  '.repeat(depthOf(tasks, task))}[${marks[task.state]}] ${task.id}: ${titleOf(task)}`)
    .join('\n')
}
