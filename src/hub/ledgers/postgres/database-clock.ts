import type { Clock } from '../../../base/time/clock.ts'

/**
 * The wall-clock time of the database, as a hub knows it: the time that the database reported last, plus the time that has passed here
 * since. All hubs of a database share this time, whatever the clocks of their machines say, and it never goes back.
 */
export class DatabaseClock implements Clock {
  #clock: Clock
  /** The difference between the database's wall-clock time and `Clock.elapsed`. */
  #ahead: number
  #latest = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#ahead = clock.now() - clock.elapsed()
  }

  /** Corrects the clock by the time that the database has just reported. */
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
