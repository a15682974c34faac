import type { Clock } from '../base/clock.ts'

/**
 * How long ago something last happened to each task, agent or key. This process measures it by the clock that nobody can
 * set, so that a time of day that is corrected by hours neither ends what should last nor keeps what is over.
 */
export class Ages {
  #clock: Clock
  #since = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Something happened just now. */
  touch(id: string): void {
    this.#since.set(id, this.#clock.elapsed())
  }

  forget(id: string): void {
    this.#since.delete(id)
  }

  /** Returns a function that takes back what happens from now on. */
  restorer(id: string): () => void {
    const since = this.#since.get(id)
    return () => {
      if (since === undefined) this.#since.delete(id)
      else this.#since.set(id, since)
    }
  }

  /**
   * Takes over the time of day that an earlier process wrote down, unless this process knows better. A time that is still to
   * come counts as now, because the clock was set back meanwhile; `most` bounds the age, because it may have been set forward.
   */
  learn(id: string, at: number, most = Infinity): void {
    if (this.#since.has(id)) return
    const age = Math.min(most, Math.max(0, this.#clock.now() - at))
    this.#since.set(id, this.#clock.elapsed() - age)
  }

  /** The age in ms; Infinity for something that never happened. */
  of(id: string): number {
    return this.#clock.elapsed() - (this.#since.get(id) ?? -Infinity)
  }
}
