import type { Clock } from '../base/clock.ts'
import type { HubAgent, Task } from '../core/work/task.ts'

/** What an agent that waits is given. */
export type Given =
  { type: 'task'; task: Task } | { type: 'told'; text: string } | { type: 'evict'; why: string } | { type: 'idle' }

type Waiter = { since: number; give(given: Given): void; connection: AbortSignal }

/** The agents that wait for a prompt: each on one living connection. */
export class WaitingAgents {
  #waiting = new Map<string, Waiter>()

  has(agent: string): boolean {
    return this.#waiting.has(agent)
  }

  /** Those whose connection lives. */
  all(agents: ReadonlyMap<string, HubAgent>): Waiting[] {
    return [...this.#waiting].flatMap(([id, { since, connection }]) => {
      const agent = connection.aborted ? undefined : agents.get(id)
      return agent ? [{ agent, since }] : []
    })
  }

  /** Until something is given, the time is over, or the connection is gone; a newer wait of the same agent takes its place. */
  async wait(agent: string, clock: Clock, until: number, connection: AbortSignal): Promise<Given> {
    this.#waiting.get(agent)?.give({ type: 'idle' })
    const over = new AbortController()
    const { promise, resolve } = Promise.withResolvers<Given>()
    const waiter: Waiter = { since: clock.now(), give: resolve, connection }
    this.#waiting.set(agent, waiter)
    const signal = AbortSignal.any([connection, over.signal])
    void clock.sleep(Math.max(0, until - clock.now()), signal).then(() => {
      // Whoever took it out is about to give it something, in time or not.
      if (this.#waiting.get(agent) === waiter || connection.aborted) resolve({ type: 'idle' })
    })
    try {
      return await promise
    } finally {
      over.abort('over')
      if (this.#waiting.get(agent) === waiter) this.#waiting.delete(agent)
    }
  }

  /** Takes a waiter on a living connection out, so that nobody else gives it anything; whoever took it gives. */
  take(agent: string): ((given: Given) => void) | undefined {
    const waiter = this.#waiting.get(agent)
    if (!waiter || waiter.connection.aborted) return undefined
    this.#waiting.delete(agent)
    return waiter.give
  }

  /** Lets everybody go. */
  close(): void {
    for (const { give } of this.#waiting.values()) give({ type: 'idle' })
    this.#waiting.clear()
  }
}

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
