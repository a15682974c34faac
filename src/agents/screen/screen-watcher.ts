import type { Clock } from '../../base/time/clock.ts'
import type { Marks } from '../../core/screen/fence.ts'
import type { Reader, Reading } from '../../core/screen/reading.ts'
import type { Exit, Screen, Terminal } from '../../core/screen/terminal.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { LastKey } from '../../core/screen/last-key.ts'
import { Lateness } from '../../core/screen/lateness.ts'
import { read } from '../../core/screen/reading.ts'

/** One look at a terminal. */
export type Sight = {
  screen: Screen
  reading: Reading
  /** The elapsed time of the last drawing: it changes only if something new was drawn. */
  drawnAt: number
  /** How long nothing has been drawn, in ms. */
  quietMs: number
  /** The elapsed time of the look, and the time of day. */
  at: number
  now: number
  /** When the exit of the turn's last child process was noticed; -Infinity if none was. */
  childGoneAt: number
  /** The factor by which waits are longer on this machine than on an idle one. */
  stretch: number
  gone?: Exit
}

/** Signs of a turn under way: its fence, the text since its prompt, and more child processes than at rest. */
export type TurnMarks = {
  nonce?: string
  /** Whether the program was asked for the fence. */
  fence?: boolean
  since?(screen: Screen): string | undefined
  childrenAtRest?: number
}

/**
 * A look costs time (tmux starts a process each time), so looks take at most a twentieth of the time. Fast looks keep this minimum gap
 * too, because a key that a person presses in the terminal waits for a look under way. A mark that ends a turn skips the gap.
 */
const share = 20
const leastGapMs = 100
const mostGapMs = 500

/** How long a look remains valid while nothing is drawn. */
const patienceMs = 5_000
const childrenMs = 500

/** How long reading a screen may fail before the error counts, unless its program is known to have exited. */
const exitMs = 5_000

/** How often to look at a screen for something that must appear soon. */
const paceMs = 100

const never = new AbortController().signal

/** Looks at one terminal after it has drawn something, and rarely otherwise. */
export class ScreenWatcher {
  readonly terminal: Terminal
  #reader: Reader
  #clock: Clock
  #bell: OutputBell
  #lateness: Lateness
  #lastKey: LastKey
  #gone: Exit | undefined
  #last: Screen | undefined
  #tape: AnswerTape | undefined
  #hadChildren = false
  #childGoneAt = -Infinity
  #lookedAt = -Infinity
  #gapMs = leastGapMs
  #tookMs = 0
  #patienceMs = 0

  constructor(terminal: Terminal, reader: Reader, clock: Clock) {
    this.terminal = terminal
    this.#reader = reader
    this.#clock = clock
    this.#lateness = new Lateness(clock)
    this.#lastKey = new LastKey(clock)
    this.#bell = new OutputBell(terminal, clock, this.#lateness)
    void terminal.exited.then((exit) => (this.#gone = exit))
  }

  /** How the program exited, once it has. */
  get gone(): Exit | undefined {
    return this.#gone
  }

  /**
   * Sets the fence of the turn under way: when its closing mark appears, the screen is read at once, and the output is recorded from here
   * on.
   */
  expect(fence: Marks | undefined): void {
    this.#bell.expect(fence?.close)
    this.#tape = fence && new AnswerTape()
    this.#bell.tape = this.#tape
    this.#hadChildren = false
    this.#childGoneAt = -Infinity
  }

  /** The text between the marks as the program printed it; undefined if it was not drawn line by line. */
  printed(fence: Marks): string | undefined {
    return this.#tape?.between(fence)
  }

  /** How long ago a person last pressed a key in the terminal; Infinity for never. */
  async sinceKeyMs(): Promise<number> {
    const at = await this.#lastKey.in(this.terminal)
    return this.#clock.elapsed() - at
  }

  async children(): Promise<number> {
    return this.#gone ? 0 : this.terminal.children().catch(() => 0)
  }

  async look(marks: TurnMarks = {}): Promise<Sight> {
    const at = this.#clock.elapsed()
    this.#bell.heard()
    // The exit is checked before the screen is read, so that a screen read after an exit is the last one.
    const gone = this.#gone
    const screen = (this.#last = await this.#screen())
    this.#lateness.noteRead(this.#clock.elapsed() - at)
    const reading = await this.#read(screen, marks)
    const ended = this.#clock.elapsed()
    // The faster of two looks counts: one slow look is chance, and the first look is always slow.
    this.#gapMs = Math.min(mostGapMs, Math.max(leastGapMs, share * Math.min(ended - at, this.#tookMs)))
    this.#tookMs = ended - at
    this.#lookedAt = ended
    this.#patienceMs = this.#patience(reading)
    const { stretch } = this.#lateness
    const { drawnAt, quietMs } = this.#bell
    const now = this.#clock.now()
    return { screen, reading, drawnAt, quietMs, at: ended, now, childGoneAt: this.#childGoneAt, stretch, gone }
  }

  /** Resolves once another look may show something new, after `atMost` at the latest. */
  async next(signal: AbortSignal, atMost = patienceMs): Promise<void> {
    await this.#bell.rung(Math.min(atMost, this.#patienceMs), signal)
    await this.#bell.urgent(this.#lookedAt + this.#gapMs - this.#clock.elapsed(), signal)
  }

  /**
   * Looks until `so` returns true, for at most `ms` (longer on a busy machine). Returns the last sight, and as `so` whether
   * the condition was met.
   */
  async until(so: (sight: Sight) => boolean | Promise<boolean>, ms: number, signal: AbortSignal, marks?: TurnMarks) {
    const start = this.#clock.elapsed()
    for (;;) {
      const sight = await this.look(marks)
      if (await so(sight)) return { so: true, sight }
      const left = start + ms * sight.stretch - this.#clock.elapsed()
      if (left <= 0 || signal.aborted || sight.gone) return { so: false, sight }
      await this.next(signal, Math.min(left, paceMs))
    }
  }

  /** Reads the screen; if the window was closed by hand, the last known screen is used. */
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

  /** Reads the state; child processes are counted only if the screen leaves the state open, because counting starts a process. */
  async #read(screen: Screen, { nonce, fence, since: sinceOf, childrenAtRest }: TurnMarks): Promise<Reading> {
    const since = sinceOf?.(screen)
    const inTurn = childrenAtRest !== undefined
    const drawnMs = this.#bell.quietMs
    const quietMs = Math.min(drawnMs, this.#clock.elapsed() - this.#childGoneAt)
    const stillMs = inTurn ? drawnMs : undefined
    const look = { screen, children: 0, stillMs, quietMs, stretch: this.#lateness.stretch, nonce, fence, since }
    const reading = read(look, this.#reader)
    // During a turn, the prompt of a program without a busy mark counts only while no child process works.
    const doubtful = reading.state === 'idle' && reading.by === 'pattern' && !this.#reader.busy
    // While a turn is quiet its child processes are counted repeatedly: an exit between two counts would be missed.
    const quiet = reading.by === 'quiet' && drawnMs >= childrenMs / 2
    const told = reading.by === 'fence' || reading.by === 'pattern' || reading.state === 'busy'
    if (this.#gone || (told && !(inTurn && (doubtful || quiet)))) return reading
    const children = Math.max(0, (await this.children()) - (childrenAtRest ?? 0))
    // Quiet is measured from the exit of the last child process: only then can the program continue.
    if (this.#hadChildren && children === 0) this.#childGoneAt = this.#clock.elapsed()
    this.#hadChildren = children > 0
    return read(
      { ...look, children, quietMs: Math.min(quietMs, this.#clock.elapsed() - this.#childGoneAt) },
      this.#reader,
    )
  }

  #patience({ by }: Reading): number {
    return by === 'children' || by === 'quiet' ? childrenMs : patienceMs
  }
}

/** How much of a turn's output is stored: more than an artifact may contain, with its colours. */
const longestTape = 4 * 1024 * 1024

/** Matches scrolling regions and moves of the cursor, except to the next line: text between them is not in the order of its lines. */
const moves = /\u001b(?:\[[\d;?]*[A-HJLMPSTXdfr@]|[78DEHM])|\u001b\[\?(?:47|1047|1049)[hl]/

/** The output of a turn, for an answer whose beginning has scrolled out of the terminal. */
class AnswerTape {
  #chunks: Buffer[] = []
  #length = 0

  push(bytes: Uint8Array): void {
    this.#chunks.push(Buffer.from(bytes))
    this.#length += bytes.length
    while (this.#length > longestTape) this.#length -= this.#chunks.shift()!.length
  }

  between({ open, close }: Marks): string | undefined {
    const text = Buffer.concat(this.#chunks).toString()
    const end = text.lastIndexOf(close)
    const start = end < 0 ? -1 : text.lastIndexOf(open, end)
    const printed = start < 0 ? '' : text.slice(start, end + close.length)
    if (printed === '' || moves.test(printed)) return undefined
    return stripAnsi(printed.replaceAll('\r\n', '\n'))
  }
}

/** Wakes waiters when a terminal has drawn something or its program has exited, and measures how long nothing was drawn. */
class OutputBell {
  tape: AnswerTape | undefined
  #clock: Clock
  #lateness: Lateness
  #drawnAt: number
  #rung = true
  #urgent = false
  #wake: (() => void) | undefined
  #mark: string | undefined
  #rest = ''

  constructor(terminal: Terminal, clock: Clock, lateness: Lateness) {
    this.#clock = clock
    this.#lateness = lateness
    this.#drawnAt = clock.elapsed()
    this.#listen(terminal).catch(() => this.#ring())
    void terminal.exited.then(() => this.hurry())
  }

  get drawnAt(): number {
    return this.#drawnAt
  }

  get quietMs(): number {
    return this.#clock.elapsed() - this.#drawnAt
  }

  /** Called before a look, which will see everything that was drawn until then. */
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

  /** Resolves as soon as something important was drawn, after `ms`, or when the signal aborts. */
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
    await this.#lateness.sleep(ms, enough.signal)
    this.#wake = undefined
    signal.removeEventListener('abort', stop)
  }

  async #listen(terminal: Terminal): Promise<void> {
    for await (const { bytes } of terminal.output()) {
      this.#drawnAt = this.#clock.elapsed()
      this.tape?.push(bytes)
      if (this.#expected(bytes)) this.hurry()
      else this.#ring()
    }
  }

  /** Whether the mark is in this chunk, or began in the previous one. */
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
