import type { Policy } from './parts.ts'

const hourMs = 3_600_000

/** How often one program was started again, and how soon it is the next time. */
export class Restarts {
  #policy: Policy
  #counted: number[] = []
  #inARow = 0

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** In so many ms; undefined once there were too many in an hour. */
  next(now: number, counts: boolean): number | undefined {
    const { mostAnHour, firstWaitMs, longestWaitMs } = this.#policy
    if (counts) {
      this.#counted = this.#counted.filter((at) => now - at < hourMs)
      if (this.#counted.length >= mostAnHour) return undefined
      this.#counted.push(now)
    }
    return Math.min(longestWaitMs, firstWaitMs * 2 ** this.#inARow++)
  }

  /** It did what it was asked: the next trouble is a new one. */
  well(): void {
    this.#inARow = 0
  }
}
