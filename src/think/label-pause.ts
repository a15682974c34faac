import type { Clock } from '../base/time/clock.ts'

/** How long messages get no label after a slow one; the time doubles with each further slow label. */
const firstPauseMs = 60_000
const longestPauseMs = 3_600_000

/** Keeps messages from being delayed by an agent that chooses frameworks too slowly: for a while it is not asked. */
export class LabelPause {
  #until = -Infinity
  #ms = 0

  /** Whether the last label was slow, and the pause after it is not over. */
  holds(clock: Clock): boolean {
    return clock.elapsed() < this.#until
  }

  /** Begins a pause, longer than the previous one; returns its length. */
  slow(clock: Clock): number {
    this.#ms = this.#ms === 0 ? firstPauseMs : Math.min(longestPauseMs, 2 * this.#ms)
    this.#until = clock.elapsed() + this.#ms
    return this.#ms
  }

  inTime(): void {
    this.#ms = 0
  }
}
