/** The time, which is handed in: no code below the screens and commands reads the system's clock or sets a timer itself. */
export interface Clock {
  now(): number
  /** Milliseconds since an arbitrary moment, for durations: they are not affected if somebody sets the clock. */
  elapsed(): number
  /** Resolves after `ms`, or at once when `signal` aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Calls `act` after `ms`, unless `signal` aborts first. The sleep never rejects, so nobody has to await it. */
export function callAfter(clock: Clock, ms: number, signal: AbortSignal, act: () => void): void {
  void clock.sleep(ms, signal).then(() => {
    if (!signal.aborted) act()
  })
}

/** Resolves when `signal` aborts, at once if it already has; it never rejects. */
export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

/** Waits at most `ms` for a result; undefined if it has not arrived by then. */
export async function within<T>(clock: Clock, result: Promise<T>, ms: number): Promise<T | undefined> {
  const enough = new AbortController()
  try {
    return await Promise.race([result, clock.sleep(ms, enough.signal).then(() => undefined)])
  } finally {
    enough.abort()
  }
}

/** Runs a function with a signal that aborts after `ms`, with an error that names the time. */
export async function withTimeLimit<T>(clock: Clock, ms: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const [limit, done] = [new AbortController(), new AbortController()]
  callAfter(clock, ms, done.signal, () => limit.abort(new Error(`it took longer than ${ms / 1000} seconds`)))
  try {
    return await run(limit.signal)
  } finally {
    done.abort()
  }
}

/**
 * A wall-clock time that continues evenly from its beginning, even if somebody sets the clock: the differences of its times are
 * durations, and its times can still be compared with those that other processes stored.
 */
export class SteadyTime {
  #clock: Clock
  #began: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#began = clock.now() - clock.elapsed()
  }

  now(): number {
    return Math.round(this.#began + this.#clock.elapsed())
  }

  /** Converts the wall-clock time at which something happened, now or before this process noticed it, into steady time. */
  of(at: number): number {
    const now = this.now()
    const ahead = now - this.#clock.now()
    // A difference of one millisecond comes from rounding, not from a set clock.
    return Math.min(now, Math.abs(ahead) > 1 ? at + ahead : at)
  }
}

/**
 * The distance between now and a wall-clock time that a file or another process stored. The clock may have been set since, so a time in
 * the future counts as equally far away as one in the past, and nothing waits for the future time.
 */
export const timeApart = (now: number, at: number) => Math.abs(now - at)

/** How much longer a sleep lasts if its time ran out while the process was suspended. */
const lateMs = 3000
let awakeSince = -Infinity

/**
 * Tells the real clock that this process was suspended until now, for example by a shell. Sleeps that ended meanwhile last a moment
 * longer, so that other processes' output from that time is read before they count as silent.
 */
export function stoodStill(): void {
  awakeSince = processMilliseconds()
}

/** `performance.now()` is not used, because it loads a part of Node that nothing else of a start needs. */
function processMilliseconds(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

export const realClock: Clock = {
  now: () => Date.now(),
  elapsed: processMilliseconds,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const due = processMilliseconds() + ms
      // setTimeout overflows above 2^31-1 ms and would fire at once; for a negative time Node prints a warning.
      let timer = setTimeout(ended, Math.min(Math.max(ms, 0), 2_147_483_647))
      function ended() {
        if (due >= awakeSince) return done()
        timer = setTimeout(done, lateMs)
      }
      function done() {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      signal?.addEventListener('abort', done, { once: true })
    }),
}
