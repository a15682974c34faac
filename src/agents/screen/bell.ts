import type { Clock } from '../../base/clock.ts'
import type { Terminal } from '../../core/screen/terminal.ts'

/** Rings when a terminal has drawn something or is gone, and knows since when nothing was drawn. */
export class Bell {
  #clock: Clock
  #drawnAt: number
  #rung = true
  #urgent = false
  #wake: (() => void) | undefined
  #mark: string | undefined
  #rest = ''

  constructor(terminal: Terminal, clock: Clock) {
    this.#clock = clock
    this.#drawnAt = clock.now()
    void this.#listen(terminal).catch(() => this.#ring())
    void terminal.exited.then(() => this.hurry())
  }

  get quietMs(): number {
    return this.#clock.now() - this.#drawnAt
  }

  /** Whoever looks now has heard all that rang before. */
  heard(): void {
    this.#rung = false
    this.#urgent = false
  }

  /** Text that is worth a look at once, where it goes by in one piece. */
  expect(mark: string | undefined): void {
    this.#mark = mark
    this.#rest = ''
  }

  /** Resolves when it has rung since it was heard, after `ms`, or when the signal aborts. */
  rung(ms: number, signal: AbortSignal): Promise<void> {
    return this.#until(() => this.#rung, ms, signal)
  }

  /** The same for what is worth a look at once. */
  urgent(ms: number, signal: AbortSignal): Promise<void> {
    return this.#until(() => this.#urgent, ms, signal)
  }

  hurry(): void {
    this.#urgent = true
    this.#ring()
  }

  async #until(so: () => boolean, ms: number, signal: AbortSignal): Promise<void> {
    if (so() || signal.aborted || ms <= 0) return
    const enough = new AbortController()
    // A reason of its own costs less than the error that an abort makes without one, and it rings all the time.
    const stop = () => enough.abort('rung')
    signal.addEventListener('abort', stop, { once: true })
    this.#wake = () => so() && stop()
    await this.#clock.sleep(ms, enough.signal)
    this.#wake = undefined
    signal.removeEventListener('abort', stop)
  }

  async #listen(terminal: Terminal): Promise<void> {
    for await (const { bytes } of terminal.output()) {
      this.#drawnAt = this.#clock.now()
      if (this.#expected(bytes)) this.hurry()
      else this.#ring()
    }
  }

  /** A mark may be cut by two chunks. */
  #expected(bytes: Uint8Array): boolean {
    if (this.#mark === undefined) return false
    const text = this.#rest + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    this.#rest = text.slice(1 - this.#mark.length)
    return text.includes(this.#mark)
  }

  #ring(): void {
    this.#rung = true
    this.#wake?.()
  }
}
