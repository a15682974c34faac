import type { Clock } from '../../base/clock.ts'
import type { Reader, Reading } from '../../core/screen/reading.ts'
import type { Exit, Screen, Terminal } from '../../core/screen/terminal.ts'
import { quietAfterMs, read } from '../../core/screen/reading.ts'

/** One look at a terminal. */
export type Sight = { screen: Screen; reading: Reading; quietMs: number; at: number; gone?: Exit }

/** What a turn under way is recognised by. */
export type TurnMarks = { nonce?: string; since?(screen: Screen): string | undefined }

/** Looks cost: a tmux pane is a process each time. So they take a twentieth of the time at most, however many agents there are. */
const share = 20
const leastGapMs = 40
const mostGapMs = 500

/** How long a screen that nothing was drawn on is believed. */
const patienceMs = 5_000
const childrenMs = 1_000

/** How long a screen may not be told before its program is known to be gone. */
const exitMs = 5_000

/** How often something that must come soon is looked for. */
const paceMs = 100

const never = new AbortController().signal

/** Looks at one terminal: when it has drawn something, and seldom otherwise. */
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

  /** How its program ended, once it has. */
  get gone(): Exit | undefined {
    return this.#gone
  }

  expect(mark: string | undefined): void {
    this.#bell.expect(mark)
  }

  async look(sought: TurnMarks = {}): Promise<Sight> {
    const at = this.#clock.now()
    this.#bell.heard()
    // Before the screen is read, so that a screen seen with an exit is the last one.
    const gone = this.#gone
    const screen = (this.#last = await this.#screen())
    const reading = await this.#read(screen, sought)
    const now = this.#clock.now()
    // One slow look is chance, and the first one always is.
    this.#gapMs = Math.min(mostGapMs, Math.max(leastGapMs, share * Math.min(now - at, this.#tookMs)))
    this.#tookMs = now - at
    this.#lookedAt = now
    this.#patienceMs = this.#patience(reading)
    return { screen, reading, quietMs: this.#bell.quietMs, at: now, ...(gone ? { gone } : {}) }
  }

  /** Resolves when another look may show something else, at the latest after `atMost`. */
  async next(signal: AbortSignal, atMost = patienceMs): Promise<void> {
    await this.#bell.rung(Math.min(atMost, this.#patienceMs), signal)
    await this.#bell.urgent(this.#lookedAt + this.#gapMs - this.#clock.now(), signal)
  }

  /** Looks again and again until it is so, no longer than `ms`; the last sight says whether it was. */
  async until(so: (sight: Sight) => boolean | Promise<boolean>, ms: number, signal: AbortSignal, sought?: TurnMarks) {
    const end = this.#clock.now() + ms
    for (;;) {
      const sight = await this.look(sought)
      if (await so(sight)) return { so: true, sight }
      const left = end - this.#clock.now()
      if (left <= 0 || signal.aborted || sight.gone) return { so: false, sight }
      await this.next(signal, Math.min(left, paceMs))
    }
  }

  /** A window that was closed by hand has no screen any more: its last one counts. */
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

  /** Processes are counted only where the screen does not tell: one that still draws is busy without any. */
  async #read(screen: Screen, { nonce, since: sinceOf }: TurnMarks): Promise<Reading> {
    const since = sinceOf?.(screen)
    const look = {
      screen,
      children: 0,
      quietMs: this.#bell.quietMs,
      ...(nonce === undefined ? {} : { nonce }),
      ...(since === undefined ? {} : { since }),
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

/** Rings when a terminal has drawn something or is gone, and knows since when nothing was drawn. */
export class OutputBell {
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
