import type { Clock } from '../../../base/clock.ts'

/** Ticks as long as there is something to tick for; an idle screen has no timer at all. */
export class Ticker {
  #clock: Clock
  #signal: AbortSignal
  #ticking = false

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
  }

  async run(everyMs: number, wanted: () => boolean, tick: () => void): Promise<void> {
    if (this.#ticking) return
    this.#ticking = true
    while (wanted() && !this.#signal.aborted) {
      await this.#clock.sleep(everyMs, this.#signal)
      tick()
    }
    this.#ticking = false
  }
}
