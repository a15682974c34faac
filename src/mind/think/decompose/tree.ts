import type { Readiness, WorkItem } from '../../../core/work/dependencies.ts'
import type { Check } from '../check/kinds.ts'
import { readinessOf } from '../../../core/work/dependencies.ts'
import { firstLine } from '../words.ts'

/**
 * One task of a tree. `touches`: the files and folders it changes, as far as its planner knows. `failed`: what was seen when it failed; `why`: why it never came to it; `unseen`: done, and
 * nobody allowed a look.
 */
export type TreeTask = {
  id: string
  parent?: string
  task: string
  needs: string[]
  touches?: string[]
  check?: Check
  state: WorkItem['state']
  failed?: string
  why?: string
  unseen?: true
}

export const childrenOf = (tasks: readonly TreeTask[], parent?: string) =>
  tasks.filter((task) => task.parent === parent)

export function depthOf(tasks: readonly TreeTask[], { parent }: TreeTask): number {
  const above = tasks.find(({ id }) => id === parent)
  return above ? depthOf(tasks, above) + 1 : 0
}

/** Depth first, as they are done: the parts before the whole. */
export function inOrder(tasks: readonly TreeTask[], parent?: string): TreeTask[] {
  return childrenOf(tasks, parent).flatMap((task) => [...inOrder(tasks, task.id), task])
}

/** What there is to do: the leaves, and each whole that has a check of its own. */
export function pieces(tasks: readonly TreeTask[]): TreeTask[] {
  return inOrder(tasks).filter((task) => task.check !== undefined || isLeaf(tasks, task))
}

export const isLeaf = (tasks: readonly TreeTask[], { id }: TreeTask) => childrenOf(tasks, id).length === 0

/** Whether a task may go: after what it and those above it need, a whole after its parts. */
export function readiness(tasks: readonly TreeTask[]): (task: TreeTask) => Readiness {
  const all = new Map(tasks.map((task) => [task.id, workOf(tasks, task)]))
  return ({ id }) => readinessOf(id, all)
}

/** The next to be done; those that never can be any more are dead, and say why. */
export function advanced(tasks: readonly TreeTask[]): { tasks: readonly TreeTask[]; next?: TreeTask } {
  const ready = readiness(tasks)
  for (const task of inOrder(tasks)) {
    if (task.state === 'done' || task.state === 'dead') continue
    const may = ready(task)
    if (may.ready) return { tasks, next: task }
    if ('never' in may) return advanced(changed(tasks, task.id, { state: 'dead', why: may.never }))
  }
  return { tasks }
}

/** A tree that is gone through again: what failed is tried once more. */
export function revived(tasks: readonly TreeTask[]): TreeTask[] {
  return tasks.map(({ why: _, ...task }) => (task.state === 'dead' ? { ...task, state: 'waiting' } : task))
}

export function changed(tasks: readonly TreeTask[], id: string, change: Partial<TreeTask>): TreeTask[] {
  return tasks.map((task) => (task.id === id ? { ...task, ...change } : task))
}

function workOf(tasks: readonly TreeTask[], task: TreeTask): WorkItem {
  const { id, state, failed, why } = task
  const needs = [...new Set([...neededBy(tasks, task), ...childrenOf(tasks, id).map((child) => child.id)])]
  const said = failed === undefined ? why : firstLine(failed)
  return { id, state, needs, ...(said === undefined ? {} : { why: said }) }
}

/** What the whole waits for, each of its parts waits for. */
function neededBy(tasks: readonly TreeTask[], { needs, parent }: TreeTask): string[] {
  const above = tasks.find(({ id }) => id === parent)
  return above ? [...needs, ...neededBy(tasks, above)] : needs
}
