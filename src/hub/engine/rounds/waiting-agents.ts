import type { Clock } from '../../../base/time/clock.ts'
import type { Given } from '../../model/hub-state.ts'

/** An agent that waits at this hub: the number of its connection, and its deadline by `Clock.elapsed`. */
export type Waiter = {
  agent: string
  number: number
  until: number
  connection: AbortSignal
  /** Whether the ledger knows about the wait; before that the agent gets nothing. */
  isEntered: boolean
  give(given: Given): void
}

/** The agents that wait for a prompt at this hub, each on one open connection. The agent that has waited longest comes first. */
export class WaitingAgents {
  #clock: Clock
  #waiting = new Map<string, Waiter>()
  #number = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#waiting.size
  }

  /**
   * Takes out every waiter whose wait is in the ledger and whose connection is open: until the caller puts them back, only it can give
   * them anything.
   */
  take(): Waiter[] {
    const open = [...this.#waiting.values()].filter(({ isEntered, connection }) => isEntered && !connection.aborted)
    for (const { agent } of open) this.#waiting.delete(agent)
    return open
  }

  /** Puts back a waiter that got nothing, unless its time is over or the same agent has begun another wait. */
  putBack(waiter: Waiter): void {
    const { agent, until, connection, give } = waiter
    const isOver = connection.aborted || this.#clock.elapsed() >= until
    if (isOver || this.#waiting.has(agent)) give({ type: 'idle' })
    else this.#waiting.set(agent, waiter)
  }

  /**
   * Waits until the agent is given something, `until` is reached on `Clock.elapsed`, or the connection is closed. A newer wait of the
   * same agent ends this one.
   */
  wait(agent: string, until: number, connection: AbortSignal): { number: number; given: Promise<Given> } {
    this.#waiting.get(agent)?.give({ type: 'idle' })
    this.#waiting.delete(agent)
    const { promise, resolve } = Promise.withResolvers<Given>()
    const waiter: Waiter = { agent, number: ++this.#number, until, connection, isEntered: false, give: resolve }
    this.#waiting.set(agent, waiter)
    return { number: waiter.number, given: this.#ended(waiter, promise) }
  }

  async #ended(waiter: Waiter, given: Promise<Given>): Promise<Given> {
    const { agent, until, connection, give } = waiter
    const over = new AbortController()
    const signal = AbortSignal.any([connection, over.signal])
    // The caller awaits the promise below instead.
    void this.#clock.sleep(Math.max(0, until - this.#clock.elapsed()), signal).then(() => {
      // A waiter that was taken out is about to get something, so its deadline no longer counts.
      if (this.#waiting.get(agent) === waiter || connection.aborted) give({ type: 'idle' })
    })
    try {
      return await given
    } finally {
      over.abort('over')
      if (this.#waiting.get(agent) === waiter) this.#waiting.delete(agent)
    }
  }

  /** Notes that a wait is in the ledger now. */
  enter(agent: string, number: number): void {
    const waiter = this.#waiting.get(agent)
    if (waiter?.number === number) waiter.isEntered = true
  }

  /** Ends the wait of an agent; the agent gets nothing. */
  end(agent: string, number: number): void {
    const waiter = this.#waiting.get(agent)
    if (waiter?.number === number) waiter.give({ type: 'idle' })
  }

  /** Ends every wait. */
  close(): void {
    for (const { give } of this.#waiting.values()) give({ type: 'idle' })
    this.#waiting.clear()
  }
}
