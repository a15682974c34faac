import type { HubAgent, Task } from '../core/work/task.ts'
import type { Clock } from '../base/clock.ts'
import type { Waiting } from './matching.ts'

/** What an agent that waits is given. */
export type Given =
  { type: 'task'; task: Task } | { type: 'told'; text: string } | { type: 'evict'; why: string } | { type: 'idle' }

type Waiter = { since: number; give(given: Given): void; connection: AbortSignal }

/** The agents that wait for a prompt: each on one living connection. */
export class Waiters {
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
