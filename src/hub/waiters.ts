import type { HubAgent, Task } from '../core/work/task.ts'
import type { Clock } from '../base/clock.ts'
import type { Waiting } from './matching.ts'

/** What an agent that waits is given. */
export type Given =
  { type: 'task'; task: Task } | { type: 'told'; text: string } | { type: 'evict'; why: string } | { type: 'idle' }

/** `taken`: something is about to be given, and its time is not over any more. */
type Waiter = { since: number; give(given: Given): void; signal: AbortSignal; taken: boolean }

/** The agents that wait for a prompt: each on one living connection. */
export class Waiters {
  #waiting = new Map<string, Waiter>()

  has(agent: string): boolean {
    return this.#waiting.has(agent)
  }

  all(agents: ReadonlyMap<string, HubAgent>): Waiting[] {
    return [...this.#waiting].flatMap(([id, { since }]) => {
      const agent = agents.get(id)
      return agent ? [{ agent, since }] : []
    })
  }

  /** Until something is given, the time is over, or the connection is gone; a newer wait of the same agent takes its place. */
  async wait(agent: string, clock: Clock, until: number, connection: AbortSignal): Promise<Given> {
    this.#waiting.get(agent)?.give({ type: 'idle' })
    const over = new AbortController()
    const signal = AbortSignal.any([connection, over.signal])
    const { promise, resolve } = Promise.withResolvers<Given>()
    const waiter: Waiter = { since: clock.now(), give: resolve, signal: connection, taken: false }
    this.#waiting.set(agent, waiter)
    void clock.sleep(Math.max(0, until - clock.now()), signal).then(() => {
      if (!waiter.taken || connection.aborted) resolve({ type: 'idle' })
    })
    try {
      return await promise
    } finally {
      over.abort()
      if (this.#waiting.get(agent) === waiter) this.#waiting.delete(agent)
    }
  }

  /** Takes a waiter out, so that nobody else gives it anything; whoever took it gives. */
  take(agent: string): { give(given: Given): void; alive(): boolean } | undefined {
    const waiter = this.#waiting.get(agent)
    if (!waiter || waiter.signal.aborted) return undefined
    this.#waiting.delete(agent)
    waiter.taken = true
    return { give: waiter.give, alive: () => !waiter.signal.aborted }
  }

  /** Lets everybody go. */
  close(): void {
    for (const { give } of this.#waiting.values()) give({ type: 'idle' })
    this.#waiting.clear()
  }
}
