import type { Clock } from '../base/time/clock.ts'

/** How long the first message after a slow label goes without one; the time doubles with each slow label in a row. */
const firstPauseMs = 60_000
const longestPauseMs = 3_600_000

/** Keeps messages from being delayed by an agent that names frameworks too slowly: for a while it is not asked. */
export class LabelPause {
  #until = -Infinity
  #ms = 0

  /** Whether the last label was slow, and its pause is not over. */
  holds(clock: Clock): boolean {
    return clock.elapsed() < this.#until
  }

  /** Begins a pause, longer than the one before it; returns its length. */
  slow(clock: Clock): number {
    this.#ms = this.#ms === 0 ? firstPauseMs : Math.min(longestPauseMs, 2 * this.#ms)
    this.#until = clock.elapsed() + this.#ms
    return this.#ms
  }

  inTime(): void {
    this.#ms = 0
  }
}
