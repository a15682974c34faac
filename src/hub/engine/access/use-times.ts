import type { Clock } from '../../../base/time/clock.ts'

/** The time of the last use is written at most this often. */
const writtenMs = 10 * 60_000

type UseTimeParts = {
  clock: Clock
  /** Stores the wall-clock time at which a key or a sign-in was used. */
  write(id: string, at: number): Promise<void>
}

/**
 * How long ago each key or sign-in was last used. This process measures the time with the monotonic clock, so that changing the wall
 * clock by hours neither expires a valid key nor keeps an expired one.
 */
export class UseTimes {
  #parts: UseTimeParts
  /** When each key or sign-in was last used, by `Clock.elapsed`. */
  #used = new Map<string, number>()
  /** When this process last wrote a use to the ledger, by `Clock.elapsed`. */
  #wrote = new Map<string, number>()
  /** The last use that any process wrote for each key or sign-in, in wall-clock time. */
  #written = new Map<string, number>()

  constructor(parts: UseTimeParts) {
    this.#parts = parts
  }

  /** Notes that a key or a sign-in was just made. */
  begin(id: string): void {
    this.#used.set(id, this.#parts.clock.elapsed())
  }

  /** Notes a use, and writes its time now and then. No request waits for the write. */
  use(id: string): void {
    const { clock } = this.#parts
    this.begin(id)
    if (clock.elapsed() - (this.#wrote.get(id) ?? -Infinity) > writtenMs) void this.#write(id)
  }

  /**
   * The time in ms since the last use; `stored` is the wall-clock time of a use in the ledger. Another process may have stored it: if it
   * is newer than the one that this process knew, the age becomes smaller. A time in the future counts as now, because the clock must
   * have been set back.
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

  /** A failed write, for example on a full disk, locks nobody out: a later use writes its time again. */
  async #write(id: string): Promise<void> {
    const { clock, write } = this.#parts
    const before = this.#wrote.get(id)
    this.#wrote.set(id, clock.elapsed())
    const now = clock.now()
    // A time that this process wrote must not be mistaken for another process's report.
    this.#written.set(id, now)
    await write(id, now).catch(() => {
      if (before === undefined) this.#wrote.delete(id)
      else this.#wrote.set(id, before)
    })
  }
}
