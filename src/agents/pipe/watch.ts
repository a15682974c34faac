import type { Clock } from '../../base/clock.ts'
import type { Failure } from '../../core/talk/outcome.ts'

export type Limits = { timeoutMs: number; silenceMs: number }

/** Watches one turn: too long in all, or nothing that shows that the agent is alive. */
export class Watch {
  #name: string
  #limits: Limits
  #clock: Clock
  #deadline: number
  #heard = 0

  constructor(name: string, limits: Limits, clock: Clock) {
    this.#name = name
    this.#limits = limits
    this.#clock = clock
    this.#deadline = clock.now() + limits.timeoutMs
  }

  /** Calls `stop` when a limit is passed before `over`. */
  begin(over: AbortSignal, alive: (since: number) => Promise<boolean>, stop: (failure: Failure) => void): void {
    this.heard()
    void this.#timeout(over, stop)
    void this.#silence(over, alive, stop)
  }

  /** A sign of life. */
  heard(): void {
    this.#heard = this.#clock.now()
  }

  async #timeout(over: AbortSignal, stop: (failure: Failure) => void): Promise<void> {
    for (let left; (left = this.#deadline - this.#clock.now()) > 0 && !over.aborted;)
      await this.#clock.sleep(left, over)
    if (over.aborted) return
    const message = `${this.#name} took longer than ${seconds(this.#limits.timeoutMs)} and was ended; raise timeoutSeconds if it needs longer`
    stop({ kind: 'timeout', message })
  }

  async #silence(
    over: AbortSignal,
    alive: (since: number) => Promise<boolean>,
    stop: (failure: Failure) => void,
  ): Promise<void> {
    while (!over.aborted) {
      const left = this.#heard + this.#limits.silenceMs - this.#clock.now()
      if (left > 0) await this.#clock.sleep(left, over)
      else if (await alive(this.#heard)) this.heard()
      else break
    }
    if (over.aborted) return
    const message = `${this.#name} was silent for ${seconds(this.#limits.silenceMs)} and was ended; raise silenceSeconds if it needs longer`
    stop({ kind: 'timeout', message })
  }
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`
