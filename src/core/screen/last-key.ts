import type { Clock } from '../../base/time/clock.ts'
import type { Terminal } from './terminal.ts'

/**
 * When a person last pressed a key in a terminal, by the monotonic clock. A terminal reports the time of day, which other processes
 * share. It is converted to elapsed time when it is first seen, so that setting the clock afterwards does not change how long ago
 * the key was pressed.
 */
export class LastKey {
  #clock: Clock
  #told = 0
  #at = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the elapsed time at the last key, -Infinity for never. If a terminal is closed, the last known time counts. */
  async in(terminal: Terminal | undefined): Promise<number> {
    const told = (await terminal?.touched().catch(() => undefined)) ?? this.#told
    if (told === this.#told) return this.#at
    this.#told = told
    // If a key press seems to be in the future, the clock was set back since: it counts as pressed now.
    this.#at = told === 0 ? -Infinity : this.#clock.elapsed() - Math.max(0, this.#clock.now() - told)
    return this.#at
  }
}
