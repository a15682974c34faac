import type { Clock } from '../../base/clock.ts'

/** A pail for each caller: so many at once, and so many more each second. */
export class Rate {
  #clock: Clock
  #burst: number
  #perSecond: number
  #pails = new Map<string, { left: number; at: number }>()

  constructor(clock: Clock, burst: number, perSecond: number) {
    this.#clock = clock
    this.#burst = burst
    this.#perSecond = perSecond
  }

  /** Takes one; false when the caller has none left. */
  take(caller: string): boolean {
    const left = this.#left(caller)
    this.#pails.delete(caller)
    this.#pails.set(caller, { left: Math.max(0, left - 1), at: this.#clock.now() })
    // Only callers of late are remembered: an older one has a full pail again.
    if (this.#pails.size > 1_000) this.#pails.delete(this.#pails.keys().next().value!)
    return left >= 1
  }

  /** Whether there is one, without taking it. */
  has(caller: string): boolean {
    return this.#left(caller) >= 1
  }

  #left(caller: string): number {
    const pail = this.#pails.get(caller)
    if (!pail) return this.#burst
    return Math.min(this.#burst, pail.left + ((this.#clock.now() - pail.at) / 1000) * this.#perSecond)
  }
}
