import type { QueuedTask } from '../../../hub/model/hub-ledger.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import { goesBefore } from '../../../hub/model/hub-ledger.ts'
import { spentOn } from '../../../hub/model/tasks/spending-cap.ts'

/** The filters of tasks in the address; an empty text filters nothing. */
export const filterNames = ['q', 'state', 'agent', 'workspace', 'priority', 'mine'] as const

type TaskFilter = Record<(typeof filterNames)[number], string>

export function filterIn(params: URLSearchParams): TaskFilter {
  return Object.fromEntries(filterNames.map((name) => [name, params.get(name) ?? ''])) as TaskFilter
}

/** Whether a task passes a filter. `me` is the person who looks. */
export function letsThrough(filter: TaskFilter, task: Task, me: string): boolean {
  const { id, prompt, workspace, agent = '', wish = '', priority, state, by } = task
  const search = filter.q.toLowerCase()
  if (search !== '' && ![id, prompt, workspace, agent, wish].some((text) => text.toLowerCase().includes(search)))
    return false
  if (filter.state !== '' && filter.state !== state) return false
  if (filter.agent !== '' && filter.agent !== agent && filter.agent !== wish) return false
  if (filter.workspace !== '' && filter.workspace !== workspace) return false
  if (filter.priority === 'raised' && priority <= 0) return false
  if (filter.priority === 'lowered' && priority >= 0) return false
  return filter.mine === '' || by === me
}

/** The orders of the list: each gives the value by which tasks are compared. */
const orders = {
  task: (task: Task) => task.prompt.toLowerCase(),
  state: (task: Task) => task.state,
  priority: (task: Task) => task.priority,
  agent: (task: Task) => (task.agent ?? task.wish ?? '').toLowerCase(),
  age: (task: Task) => -task.created,
  moved: (task: Task) => task.moved,
  cost: (task: Task) => spentOn(task).cost ?? 0,
  tokens: (task: Task) => spentOn(task).tokens,
} satisfies Record<string, (task: Task) => string | number>

export type OrderName = keyof typeof orders

/** The order in the address: its name, preceded by a minus sign if the greatest comes first. */
export function orderIn(written: string | null): { name: OrderName; isDown: boolean } {
  const name = written?.replace(/^-/, '') ?? ''
  return Object.hasOwn(orders, name)
    ? { name: name as OrderName, isDown: written!.startsWith('-') }
    : { name: 'moved', isDown: true }
}

export function inOrder(tasks: readonly Task[], { name, isDown }: { name: OrderName; isDown: boolean }): Task[] {
  const of = orders[name]
  const keyed = tasks.map((task) => ({ task, key: of(task) }))
  const sign = isDown ? -1 : 1
  const compared = keyed.toSorted((a, b) => {
    if (a.key !== b.key) return a.key < b.key ? -sign : sign
    return b.task.moved - a.task.moved || (a.task.id < b.task.id ? -1 : 1)
  })
  return compared.map(({ task }) => task)
}

/** The lowest and the highest priority at the hub. */
const [lowest, highest] = [-100, 100]
export const clampPriority = (priority: number) => Math.max(lowest, Math.min(highest, priority))

/**
 * The priority that moves a queued task before another one, or, without another one, after the last. The hub orders by priority and then
 * by age, so the task may also get before others of the same priority.
 */
export function priorityBefore(task: QueuedTask, before: QueuedTask | undefined, last: QueuedTask | undefined): number {
  if (before) {
    const same = { ...task, priority: before.priority }
    return goesBefore(same, before) ? before.priority : clampPriority(before.priority + 1)
  }
  if (!last || last.id === task.id) return task.priority
  const same = { ...task, priority: last.priority }
  return goesBefore(last, same) ? last.priority : clampPriority(last.priority - 1)
}
