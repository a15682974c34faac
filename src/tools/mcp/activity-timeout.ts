import type { Clock } from '../../base/clock.ts'

/** The library's own timers are set beyond any wait of ours: time is the clock's. */
export const never = 2_147_483_647

/**
 * How long a server may be silent: every sign of life begins the time anew, and it stands still while a person thinks.
 * `signal` aborts when the time is up or the caller's own signal did.
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
    void this.#watch(ms, until, clock)
  }

  /** The server said something. */
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
      const wait = this.#paused > 0 ? until - clock.now() : Math.min(ms, until - clock.now())
      await clock.sleep(Math.max(0, wait), this.#wake.signal)
      if (this.#wake.signal.aborted) continue
      this.expired = true
      this.#over.abort()
      return
    }
  }
}
