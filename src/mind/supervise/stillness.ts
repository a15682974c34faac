import type { Clock } from '../../base/clock.ts'
import type { Terminal } from '../../core/screen/terminal.ts'

/** Knows since when nothing was drawn in a terminal. */
export class Stillness {
  #clock: Clock
  #drawnAt: number
  #wakes = new Set<() => void>()

  constructor(terminal: Terminal, clock: Clock) {
    this.#clock = clock
    this.#drawnAt = clock.now()
    void this.#listen(terminal).catch(() => {})
  }

  get ms(): number {
    return this.#clock.now() - this.#drawnAt
  }

  /** Resolves when nothing was drawn for so long, or the signal aborts. */
  async lasts(ms: number, signal: AbortSignal): Promise<void> {
    while (this.ms < ms && !signal.aborted) await this.#clock.sleep(ms - this.ms, signal)
  }

  /** Resolves with the next thing that is drawn, or when the signal aborts. */
  drawn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#wakes.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      if (signal.aborted) return resolve()
      this.#wakes.add(done)
      signal.addEventListener('abort', done, { once: true })
    })
  }

  async #listen(terminal: Terminal): Promise<void> {
    for await (const _ of terminal.output()) {
      this.#drawnAt = this.#clock.now()
      for (const wake of [...this.#wakes]) wake()
    }
  }
}
