import type { Clock } from '../base/time/clock.ts'

/** A person who was typing when a question appeared must pause for this long before a key counts as an answer. */
const pauseMs = 400

/** The pause after which a new question may be answered, because the person who was typing has then seen it. */
export class TypingPause {
  #clock: Clock
  #quietSince: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#quietSince = clock.elapsed()
  }

  /** Records a key that was not meant for the question: the pause begins again. */
  typed(): void {
    this.#quietSince = this.#clock.elapsed()
  }

  /** Resolves when nobody has typed for long enough, or when `signal` aborts. */
  async over(signal: AbortSignal): Promise<void> {
    const left = () => pauseMs - (this.#clock.elapsed() - this.#quietSince)
    for (let wait; (wait = left()) > 0 && !signal.aborted;) {
      await this.#clock.sleep(wait, signal)
      // On a busy machine the sleep may end late: keys that already wait in the terminal were typed earlier and are read first.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
