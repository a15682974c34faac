import type { Clock } from '../../base/clock.ts'
import type { ScreenFacts } from '../../core/work/profile.ts'
import type { Reading } from '../../core/screen/reading.ts'
import type { Exit, Terminal } from '../../core/screen/terminal.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { Opened } from './parts.ts'
import type { Came } from './telling.ts'
import type { Ending } from './verdict.ts'
import { read } from '../../core/screen/reading.ts'
import { farewellMs, saysGoodbye } from './farewell.ts'
import { Stillness } from './stillness.ts'

export type Facts = Pick<ScreenFacts, 'reader' | 'composer'>

/** One look at a living program. */
export type Seen = { rows: string[]; reading: Reading; quietMs: number; touched: number; composer: string | undefined }

/** How often it is looked whether a program that is being opened has its terminal yet. */
const openingMs = 1_000

/** One life of a supervised program: from its opening to its end. */
export class Life {
  readonly agent: Agent
  readonly came: Came
  /** Whether it has done anything it was asked. */
  did = false
  #clock: Clock
  #facts: Facts
  #terminal: Terminal | undefined
  #still: Stillness | undefined
  #gone: { exit: Exit; at: number } | undefined
  #left = new AbortController()
  #touched = 0

  constructor({ agent, came }: Opened, facts: Facts, clock: Clock) {
    this.agent = agent
    this.came = came
    this.#facts = facts
    this.#clock = clock
  }

  /** Whether its program is there and has not left. */
  get lives(): boolean {
    return this.#noticed() !== undefined && !this.#gone
  }

  get quietMs(): number {
    return this.#still?.ms ?? 0
  }

  /** How it has ended by itself, if it has. */
  async ended(): Promise<Ending | undefined> {
    this.#noticed()
    // A terminal that was just noticed tells in a moment that its program is gone.
    await Promise.resolve()
    if (!this.#gone) return undefined
    const { exit, at } = this.#gone
    return { type: 'exit', exit, sinceKeyMs: at - (await this.#keys()) }
  }

  /** Waits until it ends by itself or says goodbye; undefined when the signal aborts first. */
  async end(signal: AbortSignal): Promise<Ending | undefined> {
    while (!signal.aborted) {
      if (!this.#noticed()) await this.#clock.sleep(openingMs, signal)
      else if (this.#gone) return this.ended()
      else {
        const over = AbortSignal.any([signal, this.#left.signal])
        await this.#still!.lasts(farewellMs, over)
        if (over.aborted) continue
        const seen = await this.look()
        if (seen && seen.quietMs >= farewellMs && saysGoodbye(seen.rows, seen.reading))
          return { type: 'goodbye', sinceKeyMs: this.#clock.now() - seen.quietMs - seen.touched }
        await this.#still!.drawn(over)
      }
    }
    return undefined
  }

  /** Resolves when nothing was drawn for so long, when it left, or when the signal aborts. */
  async still(ms: number, signal: AbortSignal): Promise<void> {
    this.#noticed()
    await this.#still?.lasts(ms, AbortSignal.any([signal, this.#left.signal]))
  }

  /** Sleeps no longer than its program lives. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.#noticed()
    await this.#clock.sleep(ms, AbortSignal.any([signal, this.#left.signal]))
  }

  /** Undefined where there is nothing to look at. */
  async look(): Promise<Seen | undefined> {
    const terminal = this.#noticed()
    if (!terminal || this.#gone) return undefined
    try {
      const screen = await terminal.screen()
      const children = await terminal.children().catch(() => 0)
      const reading = read({ screen, children, quietMs: this.quietMs }, this.#facts.reader)
      const composer = this.#facts.composer?.(screen)
      return { rows: screen.rows, reading, quietMs: this.quietMs, touched: await this.#keys(), composer }
    } catch {
      // A window that is being closed has no screen; that it is gone is told in a moment.
      return undefined
    }
  }

  /** One that is gone may not tell any more when it was typed into: what was known last counts. */
  async #keys(): Promise<number> {
    this.#touched = (await this.#terminal?.touched().catch(() => undefined)) ?? this.#touched
    return this.#touched
  }

  #noticed(): Terminal | undefined {
    const { terminal } = this.agent
    if (!terminal || terminal === this.#terminal) return this.#terminal
    this.#terminal = terminal
    this.#gone = undefined
    this.#left = new AbortController()
    const left = this.#left
    this.#still = new Stillness(terminal, this.#clock)
    void terminal.exited.then((exit) => {
      if (this.#terminal !== terminal) return
      this.#gone = { exit, at: this.#clock.now() }
      left.abort()
    })
    return terminal
  }
}
