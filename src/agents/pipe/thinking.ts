import type { Clock } from '../../base/clock.ts'

/** The time that somebody thinks at a card: it is the person's own, and counts against no agent. */
export class Thinking {
  #clock: Clock
  #cards = 0
  #since = 0
  #before = 0
  #done = Promise.withResolvers<void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether a card is open. */
  get open(): boolean {
    return this.#cards > 0
  }

  /** All of it so far; cards that are open at once are thought about at once. */
  get ms(): number {
    return this.#before + (this.open ? this.#clock.now() - this.#since : 0)
  }

  async about<T>(answer: Promise<T>): Promise<T> {
    if (this.#cards++ === 0) {
      this.#since = this.#clock.now()
      this.#done = Promise.withResolvers()
    }
    try {
      return await answer
    } finally {
      if (--this.#cards === 0) {
        this.#before += this.#clock.now() - this.#since
        this.#done.resolve()
      }
    }
  }

  /** Resolves when no card is open. */
  async over(): Promise<void> {
    while (this.open) await this.#done.promise
  }
}
