import type { Clock } from '../base/clock.ts'
import type { HubAgent, OfferedTask, QueuedTask } from '../core/work/task.ts'

/** The answer to an agent that waits: a task, a message, its eviction, or nothing yet. */
export type Given =
  | { type: 'task'; task: OfferedTask }
  | { type: 'told'; text: string }
  | { type: 'evict'; why: string }
  | { type: 'idle' }

type Waiter = { since: number; give(given: Given): void; connection: AbortSignal }

/** An agent that waits for a task, and since when by `Clock.elapsed`. */
type Waiting = { agent: HubAgent; since: number }

/** The agents that wait for a prompt, each on one open connection. */
export class WaitingAgents {
  #waiting = new Map<string, Waiter>()

  has(agent: string): boolean {
    return this.#waiting.has(agent)
  }

  /** The agents whose connection is open. */
  all(agents: ReadonlyMap<string, HubAgent>): Waiting[] {
    return [...this.#waiting].flatMap(([id, { since, connection }]) => {
      const agent = connection.aborted ? undefined : agents.get(id)
      return agent ? [{ agent, since }] : []
    })
  }

  /** Waits until something is given, the time is over, or the connection is closed. A newer wait of the same agent replaces this one. */
  async wait(agent: string, clock: Clock, until: number, connection: AbortSignal): Promise<Given> {
    this.#waiting.get(agent)?.give({ type: 'idle' })
    const over = new AbortController()
    const { promise, resolve } = Promise.withResolvers<Given>()
    const waiter: Waiter = { since: clock.elapsed(), give: resolve, connection }
    this.#waiting.set(agent, waiter)
    const signal = AbortSignal.any([connection, over.signal])
    // The promise below is waited for.
    void clock.sleep(Math.max(0, until - clock.elapsed()), signal).then(() => {
      // A waiter that was taken out is about to be given something, in time or not.
      if (this.#waiting.get(agent) === waiter || connection.aborted) resolve({ type: 'idle' })
    })
    try {
      return await promise
    } finally {
      over.abort('over')
      if (this.#waiting.get(agent) === waiter) this.#waiting.delete(agent)
    }
  }

  /** Takes out a waiter with an open connection, so that only the caller gives it anything. */
  take(agent: string): ((given: Given) => void) | undefined {
    const waiter = this.#waiting.get(agent)
    if (!waiter || waiter.connection.aborted) return undefined
    this.#waiting.delete(agent)
    return waiter.give
  }

  /** Ends every wait. */
  close(): void {
    for (const { give } of this.#waiting.values()) give({ type: 'idle' })
    this.#waiting.clear()
  }
}

type Match = { task: QueuedTask; agent: HubAgent }

/** Matches tasks, in their order, with agents: the agent that a task is meant for, else the one that has waited longest. */
export function match(
  tasks: Iterable<QueuedTask>,
  waiting: readonly Waiting[],
  mayHave: (task: QueuedTask, agent: HubAgent) => boolean,
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
