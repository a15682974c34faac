import type { Clock } from '../src/base/time/clock.ts'

type Sleeper = { at: number; wake: () => void }

/** A clock for tests, which turn it by hand: sleepers wake in the order of their time. */
export class HandClock implements Clock {
  #now: number
  #elapsed = 0
  #sleepers: Sleeper[] = []

  constructor(now = Date.parse('2026-11-15T12:00:00Z')) {
    this.#now = now
  }

  now() {
    return this.#now
  }

  elapsed() {
    return this.#elapsed
  }

  /** Sets the time of day, as a person or the network does; no sleeper wakes of it. */
  set(now: number): void {
    this.#now = now
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const sleeper: Sleeper = { at: this.#elapsed + ms, wake: done }
      const sleepers = () => (this.#sleepers = this.#sleepers.filter((other) => other !== sleeper))
      function done() {
        sleepers()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', done, { once: true })
    })
  }

  /** The number of sleepers: a test waits for one before it turns the clock. */
  get asleep() {
    return this.#sleepers.length
  }

  /** Moves the clock on and wakes the sleepers on the way. */
  async turn(ms: number): Promise<void> {
    const until = this.#elapsed + ms
    await settled()
    for (;;) {
      const next = this.#sleepers.filter((s) => s.at <= until).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#pass(Math.max(0, next.at - this.#elapsed))
      next.wake()
      await settled()
    }
    this.#pass(until - this.#elapsed)
  }

  #pass(ms: number): void {
    this.#now += ms
    this.#elapsed += ms
  }
}

/** Lets everything that is ready to run, run. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
