import type { Event, PlanItem } from '../../core/talk/entry.ts'
import type { Readiness, WorkItem } from '../../core/work/dependencies.ts'
import type { Check } from '../goal-check.ts'
import { readinessOf } from '../../core/work/dependencies.ts'
import { firstLine } from '../prompt-text.ts'

/**
 * One task of a tree. `touches`: the files and folders that it changes, as far as its planner knows. `failed`: the evidence of its
 * failure; `why`: why it was never begun; `unseen`: it is done, but its check was not allowed to run.
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

export const isLeaf = (tasks: readonly TreeTask[], { id }: TreeTask) => childrenOf(tasks, id).length === 0

/** All tasks depth first, in the order of the work: the parts before the whole. */
function depthFirst(tasks: readonly TreeTask[], parent?: string): TreeTask[] {
  return childrenOf(tasks, parent).flatMap((task) => [...depthFirst(tasks, task.id), task])
}

/** The tasks with work of their own: the leaves, and each whole that has a check. */
export function workTasks(tasks: readonly TreeTask[]): TreeTask[] {
  return depthFirst(tasks).filter((task) => task.check !== undefined || isLeaf(tasks, task))
}

/** Whether a task may begin: after the needs of the task and of its parents; a whole also after its parts. */
export function readiness(tasks: readonly TreeTask[]): (task: TreeTask) => Readiness {
  const all = new Map(tasks.map((task) => [task.id, toWorkItem(tasks, task)]))
  return ({ id }) => readinessOf(id, all)
}

function toWorkItem(tasks: readonly TreeTask[], task: TreeTask): WorkItem {
  const { id, state, failed, why } = task
  const needs = [...new Set([...allNeeds(tasks, task), ...childrenOf(tasks, id).map((child) => child.id)])]
  return { id, state, needs, why: failed === undefined ? why : firstLine(failed) }
}

/** A part waits for everything that its whole waits for. */
function allNeeds(tasks: readonly TreeTask[], { needs, parent }: TreeTask): string[] {
  const above = tasks.find(({ id }) => id === parent)
  return above ? [...needs, ...allNeeds(tasks, above)] : needs
}

/** Finds the next task; tasks that have become impossible are marked dead, with the reason. */
export function advanceTree(tasks: readonly TreeTask[]): { tasks: readonly TreeTask[]; next?: TreeTask } {
  const ready = readiness(tasks)
  for (const task of depthFirst(tasks)) {
    if (task.state === 'done' || task.state === 'dead') continue
    const may = ready(task)
    if (may.ready) return { tasks, next: task }
    if ('never' in may) return advanceTree(changeTask(tasks, task.id, { state: 'dead', why: may.never }))
  }
  return { tasks }
}

/** The tree for another walk, in which failed tasks are retried. */
export function retryFailed(tasks: readonly TreeTask[]): TreeTask[] {
  return tasks.map(({ why: _, ...task }) => (task.state === 'dead' ? { ...task, state: 'waiting' } : task))
}

export function changeTask(tasks: readonly TreeTask[], id: string, change: Partial<TreeTask>): TreeTask[] {
  return tasks.map((task) => (task.id === id ? { ...task, ...change } : task))
}

const longestTitle = 80

/** A task on one line. */
export function taskTitle({ task }: Pick<TreeTask, 'task'>): string {
  const line = task.trim().split('\n')[0]!
  return line.length <= longestTitle ? line : `${line.slice(0, longestTitle - 1).trimEnd()}…`
}

/** How many tasks are done, for example "3 of 7". */
export function treeProgress(tasks: readonly TreeTask[]): { done: number; of: number } {
  const all = workTasks(tasks)
  return { done: all.filter(({ state }) => state === 'done').length, of: all.length }
}

const status: Record<TreeTask['state'], PlanItem['status']> = {
  waiting: 'pending',
  running: 'in_progress',
  done: 'completed',
  dead: 'pending',
}

/** The tree as a plan on the screen, in the order of the work. */
export function planEvent(tasks: readonly TreeTask[]): Event {
  const items = workTasks(tasks).map((task) => ({
    task:
      task.state === 'dead'
        ? `${taskTitle(task)} (${task.failed === undefined ? 'not begun' : 'failed'})`
        : taskTitle(task),
    status: status[task.state],
  }))
  return { type: 'plan', items, by: 'termaite' }
}

const marks: Record<TreeTask['state'], string> = { waiting: ' ', running: '>', done: 'x', dead: '!' }

/** The tree as text; it is short, because every acting agent gets it. */
export function drawTree(tasks: readonly TreeTask[]): string {
  return tasks
    .map((task) => `${'  '.repeat(depthOf(tasks, task))}[${marks[task.state]}] ${task.id}: ${taskTitle(task)}`)
    .join('\n')
}

function depthOf(tasks: readonly TreeTask[], { parent }: TreeTask): number {
  const above = tasks.find(({ id }) => id === parent)
  return above ? depthOf(tasks, above) + 1 : 0
}
