import type { Clock } from '../../base/time/clock.ts'
import type { Terminal } from './terminal.ts'

/**
 * When a person last pressed a key in a terminal, by the clock that nobody can set. A terminal tells the time of day,
 * which other processes share. It is turned into elapsed time when it is first seen, so that setting the clock
 * afterwards does not change how long ago the key was pressed.
 */
export class LastKey {
  #clock: Clock
  #told = 0
  #at = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the elapsed time at the last key, -Infinity for never. A closed terminal may not know it any more: the last known one counts. */
  async in(terminal: Terminal | undefined): Promise<number> {
    const told = (await terminal?.touched().catch(() => undefined)) ?? this.#told
    if (told === this.#told) return this.#at
    this.#told = told
    // A key of a time that has yet to come was pressed before the clock was set back: it counts as pressed now.
    this.#at = told === 0 ? -Infinity : this.#clock.elapsed() - Math.max(0, this.#clock.now() - told)
    return this.#at
  }
}
