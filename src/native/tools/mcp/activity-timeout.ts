import type { Clock } from '../../../base/time/clock.ts'

/** Switches off the SDK's own timers: all time limits run on our clock. */
export const never = 2_147_483_647

/**
 * Limits how long a server may be silent: every sign of activity restarts the time, and it is paused while a person answers. `signal`
 * aborts when the time is up or when the caller's signal aborts.
 */
export class ActivityTimeout {
  readonly signal: AbortSignal
  #over = new AbortController()
  #done = new AbortController()
  #wake = new AbortController()
  #paused = 0
  expired = false

  constructor(ms: number, until: number, clock: Clock, caller: AbortSignal) {
    this.signal = AbortSignal.any([caller, this.#over.signal])
    // Ends with `end`, or when the time is up.
    void this.#watch(ms, until, clock)
  }

  /** Restarts the time, because the server did something. */
  touch(): void {
    this.#wake.abort()
  }

  async whilePaused<T>(work: () => Promise<T>): Promise<T> {
    this.#paused++
    this.touch()
    try {
      return await work()
    } finally {
      this.#paused--
      this.touch()
    }
  }

  end(): void {
    this.#done.abort()
    this.touch()
  }

  async #watch(ms: number, until: number, clock: Clock): Promise<void> {
    while (!this.#done.signal.aborted) {
      this.#wake = new AbortController()
      const wait = this.#paused > 0 ? until - clock.elapsed() : Math.min(ms, until - clock.elapsed())
      await clock.sleep(Math.max(0, wait), this.#wake.signal)
      if (this.#wake.signal.aborted) continue
      this.expired = true
      this.#over.abort()
      return
    }
  }
}
