import type { Clock } from '../base/time/clock.ts'
import type { Reading } from '../core/screen/reading.ts'
import type { Exit, Terminal } from '../core/screen/terminal.ts'
import type { Agent } from '../core/work/agent.ts'
import type { ScreenFacts } from '../core/profile/profile.ts'
import type { ProgramEnd } from './restart-policy.ts'
import type { OpenedCli, StartKind } from './supervision.ts'
import { LastKey } from '../core/screen/last-key.ts'
import { read } from '../core/screen/reading.ts'

export type ReaderFacts = Pick<ScreenFacts, 'reader' | 'composer'>

/** One read of the screen of a living program. */
type ScreenLook = {
  rows: string[]
  reading: Reading
  quietMs: number
  /** The elapsed time when a person last pressed a key; -Infinity for never. */
  touched: number
  composer: string | undefined
}

/** How often to check whether an opening program has its terminal. */
const openingMs = 1_000

/** A goodbye counts once nothing was drawn after it for this long. */
const goodbyeMs = 2_000

/** One run of a supervised program, from its opening to its exit. */
export class SupervisedProgram {
  readonly agent: Agent
  readonly how: StartKind
  /** Whether the program has done any of the requested work. */
  hasWorked = false
  #clock: Clock
  #facts: ReaderFacts
  #terminal: Terminal | undefined
  #quiet: QuietTimer | undefined
  #exited: { exit: Exit; at: number } | undefined
  #ended = new AbortController()
  #lastKey: LastKey

  constructor({ agent, how }: OpenedCli, facts: ReaderFacts, clock: Clock) {
    this.agent = agent
    this.how = how
    this.#facts = facts
    this.#clock = clock
    this.#lastKey = new LastKey(clock)
  }

  /** Whether the program is running. */
  get lives(): boolean {
    return this.#noticed() !== undefined && !this.#exited
  }

  get quietMs(): number {
    return this.#quiet?.quietMs ?? 0
  }

  /** How the program has exited by itself, if it has. */
  async ended(): Promise<ProgramEnd | undefined> {
    this.#noticed()
    // A terminal that was just noticed reports a moment later that its program is gone.
    await Promise.resolve()
    if (!this.#exited) return undefined
    const { exit, at } = this.#exited
    return { type: 'exit', exit, sinceKeyMs: at - (await this.#lastKey.in(this.#terminal)) }
  }

  /** Waits until the program exits by itself or says goodbye; undefined if the signal aborts first. */
  async end(signal: AbortSignal): Promise<ProgramEnd | undefined> {
    while (!signal.aborted) {
      this.#noticed()
      if (!this.#quiet) await this.#clock.sleep(openingMs, signal)
      else if (this.#exited) return this.ended()
      else {
        const quiet = this.#quiet
        const over = AbortSignal.any([signal, this.#ended.signal])
        await quiet.quietFor(goodbyeMs, over)
        if (over.aborted) continue
        const look = await this.look()
        if (look && look.quietMs >= goodbyeMs && saysGoodbye(look.rows, look.reading))
          return { type: 'goodbye', sinceKeyMs: this.#clock.elapsed() - look.quietMs - look.touched }
        await quiet.nextDrawing(over)
      }
    }
    return undefined
  }

  /** Resolves when nothing was drawn for `ms`, when the program has exited, or when the signal aborts. */
  async quietFor(ms: number, signal: AbortSignal): Promise<void> {
    this.#noticed()
    await this.#quiet?.quietFor(ms, AbortSignal.any([signal, this.#ended.signal]))
  }

  /** Sleeps, but no longer than the program lives. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.#noticed()
    await this.#clock.sleep(ms, AbortSignal.any([signal, this.#ended.signal]))
  }

  /** Reads the screen; undefined if the program has none. */
  async look(): Promise<ScreenLook | undefined> {
    const terminal = this.#noticed()
    if (!terminal || this.#exited) return undefined
    try {
      const screen = await terminal.screen()
      const children = await terminal.children().catch(() => 0)
      const reading = read({ screen, children, quietMs: this.quietMs }, this.#facts.reader)
      const touched = await this.#lastKey.in(terminal)
      const composer = this.#facts.composer?.(screen)
      return { rows: screen.rows, reading, quietMs: this.quietMs, touched, composer }
    } catch {
      // A window that is being closed has no screen; its exit is reported in a moment.
      return undefined
    }
  }

  /** Notices a terminal that the agent has opened since the last check. */
  #noticed(): Terminal | undefined {
    const { terminal } = this.agent
    if (!terminal || terminal === this.#terminal) return this.#terminal
    this.#terminal = terminal
    this.#exited = undefined
    this.#ended = new AbortController()
    const ended = this.#ended
    this.#quiet = new QuietTimer(terminal, this.#clock)
    // The promise need not be awaited: every wait of this class stops at `ended`.
    void terminal.exited.then((exit) => {
      if (this.#terminal !== terminal) return
      this.#exited = { exit, at: this.#clock.elapsed() }
      ended.abort()
    })
    return terminal
  }
}

/** Measures how long nothing was drawn in a terminal. */
class QuietTimer {
  #clock: Clock
  #drawnAt: number
  #waiters = new Set<() => void>()

  constructor(terminal: Terminal, clock: Clock) {
    this.#clock = clock
    this.#drawnAt = clock.elapsed()
    // The output ends with the terminal; if reading it fails, the terminal counts as quiet.
    this.#listen(terminal).catch(() => {})
  }

  get quietMs(): number {
    return this.#clock.elapsed() - this.#drawnAt
  }

  /** Resolves when nothing was drawn for `ms`, or the signal aborts. */
  async quietFor(ms: number, signal: AbortSignal): Promise<void> {
    while (this.quietMs < ms && !signal.aborted) await this.#clock.sleep(ms - this.quietMs, signal)
  }

  /** Resolves with the next drawing, or when the signal aborts. */
  nextDrawing(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiters.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      if (signal.aborted) return resolve()
      this.#waiters.add(done)
      signal.addEventListener('abort', done, { once: true })
    })
  }

  async #listen(terminal: Terminal): Promise<void> {
    for await (const _ of terminal.output()) {
      this.#drawnAt = this.#clock.elapsed()
      for (const wake of [...this.#waiters]) wake()
    }
  }
}

const goodbye = /^(?:Exiting|Goodbye)[.!…]*$/
const codeMark = /^\s*(?:```|~~~)/

/**
 * Whether a quiet program has said goodbye: alone on the last line of the screen, at its very left, and not in code. A program that
 * works, asks, or shows its input line is not finished, whatever it printed.
 */
export function saysGoodbye(rows: readonly string[], { state, by }: Reading): boolean {
  if (state === 'busy' || state === 'asking' || (state === 'idle' && by === 'pattern')) return false
  const last = rows.findLast((row) => row.trim() !== '')?.trimEnd() ?? ''
  return goodbye.test(last) && rows.filter((row) => codeMark.test(row)).length % 2 === 0
}
