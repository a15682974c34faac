import type { Clock } from '../../base/clock.ts'
import type { Reader, Reading } from '../../core/screen/reading.ts'
import type { Exit, Screen, Terminal } from '../../core/screen/terminal.ts'
import { quietAfterMs, read } from '../../core/screen/reading.ts'

/** One look at a terminal. */
export type Sight = { screen: Screen; reading: Reading; quietMs: number; at: number; gone?: Exit }

/** How a turn under way is recognised on the screen. */
export type TurnMarks = { nonce?: string; since?(screen: Screen): string | undefined }

/** A look costs time (tmux is a process each time), so looks take a twentieth of the time at most. */
const share = 20
const leastGapMs = 40
const mostGapMs = 500

/** How long a look counts while nothing is drawn. */
const patienceMs = 5_000
const childrenMs = 1_000

/** How long reading a screen may fail before the error counts, unless its program is known to have ended. */
const exitMs = 5_000

/** How often a screen is looked at for something that must come soon. */
const paceMs = 100

const never = new AbortController().signal

/** Looks at one terminal when it has drawn something, and seldom otherwise. */
export class ScreenWatcher {
  readonly terminal: Terminal
  #reader: Reader
  #clock: Clock
  #bell: OutputBell
  #gone: Exit | undefined
  #last: Screen | undefined
  #lookedAt = -Infinity
  #gapMs = leastGapMs
  #tookMs = 0
  #patienceMs = 0

  constructor(terminal: Terminal, reader: Reader, clock: Clock) {
    this.terminal = terminal
    this.#reader = reader
    this.#clock = clock
    this.#bell = new OutputBell(terminal, clock)
    void terminal.exited.then((exit) => (this.#gone = exit))
  }

  /** How the program ended, once it has. */
  get gone(): Exit | undefined {
    return this.#gone
  }

  expect(mark: string | undefined): void {
    this.#bell.expect(mark)
  }

  async look(marks: TurnMarks = {}): Promise<Sight> {
    const at = this.#clock.now()
    this.#bell.heard()
    // Taken before the screen is read, so that a screen seen with an exit is the last one.
    const gone = this.#gone
    const screen = (this.#last = await this.#screen())
    const reading = await this.#read(screen, marks)
    const now = this.#clock.now()
    // The quicker of two looks counts: one slow look is chance, and the first one always is.
    this.#gapMs = Math.min(mostGapMs, Math.max(leastGapMs, share * Math.min(now - at, this.#tookMs)))
    this.#tookMs = now - at
    this.#lookedAt = now
    this.#patienceMs = this.#patience(reading)
    return { screen, reading, quietMs: this.#bell.quietMs, at: now, gone }
  }

  /** Resolves when another look may show something new, at the latest after `atMost`. */
  async next(signal: AbortSignal, atMost = patienceMs): Promise<void> {
    await this.#bell.rung(Math.min(atMost, this.#patienceMs), signal)
    await this.#bell.urgent(this.#lookedAt + this.#gapMs - this.#clock.now(), signal)
  }

  /** Looks until `so` is true, for at most `ms`; returns the last sight and whether it was. */
  async until(so: (sight: Sight) => boolean | Promise<boolean>, ms: number, signal: AbortSignal, marks?: TurnMarks) {
    const end = this.#clock.now() + ms
    for (;;) {
      const sight = await this.look(marks)
      if (await so(sight)) return { so: true, sight }
      const left = end - this.#clock.now()
      if (left <= 0 || signal.aborted || sight.gone) return { so: false, sight }
      await this.next(signal, Math.min(left, paceMs))
    }
  }

  /** Reads the screen; a window that was closed by hand has none any more, and its last one counts. */
  async #screen(): Promise<Screen> {
    for (let left = exitMs; ; left -= paceMs) {
      try {
        return await this.terminal.screen()
      } catch (error) {
        if (this.#gone) return this.#last ?? { rows: [], cols: 80, cursor: { row: 0, col: 0 } }
        if (left <= 0) throw error
        await this.#bell.urgent(paceMs, never)
      }
    }
  }

  /** Reads the state; child processes are counted only where the screen does not tell, because that costs a process. */
  async #read(screen: Screen, { nonce, since: sinceOf }: TurnMarks): Promise<Reading> {
    const since = sinceOf?.(screen)
    const look = {
      screen,
      children: 0,
      quietMs: this.#bell.quietMs,
      nonce,
      since,
    }
    const reading = read(look, this.#reader)
    const told = reading.by === 'fence' || reading.by === 'pattern' || reading.state === 'busy'
    if (told || this.#gone) return reading
    return read({ ...look, children: await this.terminal.children().catch(() => 0) }, this.#reader)
  }

  #patience({ by }: Reading): number {
    if (by === 'children') return childrenMs
    const quiet = quietAfterMs - this.#bell.quietMs
    return by === 'quiet' && quiet > 0 ? quiet : patienceMs
  }
}

/**
 * Wakes a waiter when a terminal has drawn something or its program has ended, and knows how long nothing was drawn.
 */
class OutputBell {
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
    this.#listen(terminal).catch(() => this.#ring())
    void terminal.exited.then(() => this.hurry())
  }

  get quietMs(): number {
    return this.#clock.now() - this.#drawnAt
  }

  /** Called before a look: all that rang before is seen by it. */
  heard(): void {
    this.#rung = false
    this.#urgent = false
  }

  /** Sets a text that is worth a look at once when it is printed. */
  expect(mark: string | undefined): void {
    this.#mark = mark
    this.#rest = ''
  }

  /** Resolves when the terminal has drawn since the last look, after `ms`, or when the signal aborts. */
  rung(ms: number, signal: AbortSignal): Promise<void> {
    return this.#until(() => this.#rung, ms, signal)
  }

  /** Resolves when something is worth a look at once, after `ms`, or when the signal aborts. */
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
    // A reason costs less than the error that an abort makes without one, and this happens all the time.
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

  /** Whether the mark is in this chunk, or begins in the one before. */
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
