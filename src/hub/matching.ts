import type { HubAgent, Task } from '../core/work/task.ts'

/** An agent that waits for a task, and since when. */
export type Waiting = { agent: HubAgent; since: number }

export type Match = { task: Task; agent: HubAgent }

/**
 * Who gets what: each task in its order goes to the agent it is meant for, else to whoever waited longest among those
 * that may have it.
 */
export function match(
  tasks: Iterable<Task>,
  waiting: readonly Waiting[],
  mayHave: (task: Task, agent: HubAgent) => boolean,
): Match[] {
  const left = waiting.toSorted((a, b) => a.since - b.since).map(({ agent }) => agent)
  const matches: Match[] = []
  for (const task of tasks) {
    const meant = left.findIndex((agent) => agent.id === task.wish && mayHave(task, agent))
    const at = meant >= 0 ? meant : left.findIndex((agent) => mayHave(task, agent))
    if (at >= 0) matches.push({ task, agent: left.splice(at, 1)[0]! })
    // There may be far more tasks than agents that wait.
    if (left.length === 0) break
  }
  return matches
}

/** Whether an agent could do it at all. */
export function fits(task: Task, agent: HubAgent): boolean {
  return agent.workspace === task.workspace && task.capabilities.every((wanted) => agent.capabilities.includes(wanted))
}
