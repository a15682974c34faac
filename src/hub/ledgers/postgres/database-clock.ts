import type { Clock } from '../../../base/time/clock.ts'

/**
 * The time of day of the database, as far as a hub knows it: the time that the database reported last, plus the time that has passed here
 * since. All hubs of a database have the same time, whatever the clocks of their machines say, and it never goes back.
 */
export class DatabaseClock implements Clock {
  #clock: Clock
  /** The difference between the time of day of the database and `Clock.elapsed`. */
  #ahead: number
  #latest = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#ahead = clock.now() - clock.elapsed()
  }

  /** Takes over the time that the database has just reported. */
  learn(now: number): void {
    this.#ahead = now - this.#clock.elapsed()
  }

  now(): number {
    this.#latest = Math.max(this.#latest, Math.round(this.#clock.elapsed() + this.#ahead))
    return this.#latest
  }

  elapsed(): number {
    return this.#clock.elapsed()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal)
  }
}
