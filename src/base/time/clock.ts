/** The time, which is handed in: no code below the screens and commands reads the system's clock or sets a timer itself. */
export interface Clock {
  now(): number
  /** Milliseconds since an arbitrary moment, for durations: they go on evenly when somebody sets the clock. */
  elapsed(): number
  /** Resolves after `ms`, or at once when `signal` aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Calls `act` after `ms`, unless `signal` aborts first. The sleep never rejects, so that nobody has to wait for it. */
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

/** Waits for a result for at most `ms`; undefined if it has not come by then. */
export async function within<T>(clock: Clock, result: Promise<T>, ms: number): Promise<T | undefined> {
  const enough = new AbortController()
  try {
    return await Promise.race([result, clock.sleep(ms, enough.signal).then(() => undefined)])
  } finally {
    enough.abort()
  }
}

/** Runs something with a signal that aborts after `ms`, with an error that names the time. */
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
 * A time of day that goes on evenly from where it began, whatever somebody does to the clock: the differences of its times
 * are durations, and its times can still be compared with those that other processes kept.
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

  /** Turns the time of day at which something just happened, or happened before this process saw it, into steady time. */
  of(at: number): number {
    const now = this.now()
    const ahead = now - this.#clock.now()
    // A difference of one millisecond comes from rounding: nobody has set the clock.
    return Math.min(now, Math.abs(ahead) > 1 ? at + ahead : at)
  }
}

/**
 * How far the time of day that a file or another process kept lies from now. The clock may have been set since then, so a
 * time in the future is as far away as one in the past, and nothing waits until the future time has come.
 */
export const timeApart = (now: number, at: number) => Math.abs(now - at)

/** How much longer a sleep lasts if it would have run out while the process was suspended. */
const lateMs = 3000
let awakeSince = -Infinity

/**
 * Tells the real clock that this process stood still until now, for example because a shell had stopped it. Sleeps that
 * ended meanwhile last a moment longer, so that whatever others did meanwhile is read before anybody calls them silent.
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
