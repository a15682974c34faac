import type { Clock } from '../../base/time/clock.ts'

/** How many of the last samples are used. */
const remembered = 16

/** A timer may be this late on an idle machine. */
const usualMs = 2

/** If a machine's timers are later than usual by this much, the waiting time is doubled. */
const doubleMs = 4

const mostStretch = 8

/**
 * Measures how slow this machine is now, by the delay of its own timers and reads. On a busy machine programs also draw late, so a screen
 * must be still for longer before that means anything.
 */
export class Lateness {
  #clock: Clock
  #samples: number[] = []
  #quickestRead = Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Sleeps, and records by how much the sleep was too long. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const end = this.#clock.elapsed() + ms
    await this.#clock.sleep(ms, signal)
    if (!signal.aborted) this.#note(this.#clock.elapsed() - end)
  }

  /** Records how long a read took; the quickest one so far shows how long it takes on an idle machine. */
  noteRead(tookMs: number): void {
    this.#quickestRead = Math.min(this.#quickestRead, tookMs)
    this.#note(tookMs - this.#quickestRead)
  }

  /** The factor by which waits are longer than on an idle machine. A single late sample may be chance and does not count. */
  get stretch(): number {
    const late = this.#samples.toSorted((a, b) => b - a)[1] ?? 0
    return Math.min(mostStretch, 1 + Math.max(0, late - usualMs) / doubleMs)
  }

  #note(lateMs: number): void {
    this.#samples = [...this.#samples, Math.max(0, lateMs)].slice(-remembered)
  }
}
