import type { Clock } from '../../../base/time/clock.ts'

/** The time of the last use is written at most this often. */
const writtenMs = 10 * 60_000

type Parts = {
  clock: Clock
  /** Stores the time of day at which a key or a sign-in was used. */
  write(id: string, at: number): Promise<void>
}

/**
 * How long ago each key or sign-in was last used. This process measures it by the clock that nobody can set, so that a time of day
 * that is corrected by hours neither ends what should last nor keeps what is over.
 */
export class UseTimes {
  #parts: Parts
  /** When each was last used, by `Clock.elapsed`. */
  #used = new Map<string, number>()
  /** When this process last wrote that down, by `Clock.elapsed`. */
  #wrote = new Map<string, number>()
  /** The last time of day that was written down for each, by any process. */
  #written = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** A key or a sign-in was made just now. */
  begin(id: string): void {
    this.#used.set(id, this.#parts.clock.elapsed())
  }

  /** Notes a use, and writes its time down now and then. No request waits for that. */
  use(id: string): void {
    const { clock } = this.#parts
    this.begin(id)
    if (clock.elapsed() - (this.#wrote.get(id) ?? -Infinity) > writtenMs) void this.#write(id)
  }

  /**
   * The time in ms since the last use; `stored` is the time of day of a use that the ledger has. Another process may have stored it:
   * a newer one than this process knew makes the age smaller. A time that is still to come counts as now, because the clock was
   * set back meanwhile.
   */
  age(id: string, stored: number): number {
    const { clock } = this.#parts
    const age = Math.max(0, clock.now() - stored)
    const known = clock.elapsed() - (this.#used.get(id) ?? -Infinity)
    const isNews = known === Infinity || this.#written.get(id) !== stored
    this.#written.set(id, stored)
    if (!isNews || age >= known) return known
    this.#used.set(id, clock.elapsed() - age)
    return age
  }

  forget(id: string): void {
    this.#used.delete(id)
    this.#wrote.delete(id)
    this.#written.delete(id)
  }

  /** A full disk keeps nobody out: a later use writes its time down then. */
  async #write(id: string): Promise<void> {
    const { clock, write } = this.#parts
    const before = this.#wrote.get(id)
    this.#wrote.set(id, clock.elapsed())
    const now = clock.now()
    // A time that this process has written is not taken for the word of another process.
    this.#written.set(id, now)
    await write(id, now).catch(() => {
      if (before === undefined) this.#wrote.delete(id)
      else this.#wrote.set(id, before)
    })
  }
}
