import type { HubAgent, Task } from '../core/work/task.ts'

/** An agent that waits for a task, and since when. */
export type Waiting = { agent: HubAgent; since: number }

export type Match = { task: Task; agent: HubAgent }

/**
 * Who gets what: the task that matters most and waited longest goes first, to the agent it is meant for,
 * else to whoever waited longest among those that may have it.
 */
export function match(
  tasks: readonly Task[],
  waiting: readonly Waiting[],
  mayHave: (task: Task, agent: HubAgent) => boolean,
): Match[] {
  const left = waiting.toSorted((a, b) => a.since - b.since).map(({ agent }) => agent)
  const given = new Set<Task>()
  const matches: Match[] = []
  // Looked through once for each agent: far fewer wait than there may be tasks, so nothing is sorted.
  for (let best: Task | undefined; left.length > 0; given.add(best), best = undefined) {
    for (const task of tasks)
      if (!given.has(task) && (!best || goesBefore(task, best)) && left.some((agent) => mayHave(task, agent)))
        best = task
    if (!best) break
    const task = best
    const meant = left.findIndex((agent) => agent.id === task.wish && mayHave(task, agent))
    const at = meant >= 0 ? meant : left.findIndex((agent) => mayHave(task, agent))
    matches.push({ task, agent: left.splice(at, 1)[0]! })
  }
  return matches
}

function goesBefore(a: Task, b: Task): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority
  return a.created === b.created ? a.id < b.id : a.created < b.created
}

/** Whether an agent could do it at all. */
export function fits(task: Task, agent: HubAgent): boolean {
  return agent.workspace === task.workspace && task.capabilities.every((wanted) => agent.capabilities.includes(wanted))
}
