import type { Failure } from '../core/talk/outcome.ts'
import type { Ask } from '../core/talk/question.ts'
import type { Turn } from '../core/work/agent.ts'
import type { Clock } from '../base/time/clock.ts'
import { consentOptions } from '../core/talk/consent.ts'

type TimeLimits = { timeoutMs: number; silenceMs: number }

/** The parts of a turn that the watch needs. */
type WatchedTurn = Pick<Turn, 'clock' | 'ask' | 'attended'>

/**
 * Ends a turn that takes too long, or whose agent shows no sign of life for too long. Time that a person spends on a card does not count.
 */
export class TurnWatch {
  #name: string
  #limits: TimeLimits
  #turn: WatchedTurn
  #deadline: number
  #cardTime: CardTime
  #heardAt = 0
  /** The moment of `#heardAt` as a time of day, to compare with the times of files. */
  #heardOn = 0
  /** Aborts at the next sign of life, which withdraws the card about the silence; undefined while no card is open. */
  #quiet: AbortController | undefined

  constructor(name: string, limits: TimeLimits, turn: WatchedTurn) {
    this.#name = name
    this.#limits = limits
    this.#turn = turn
    this.#deadline = turn.clock.elapsed() + limits.timeoutMs
    this.#cardTime = new CardTime(turn.clock)
  }

  /** Asks the person of the turn; the clock stops until the answer. */
  readonly ask: Ask = async (question, withdrawn) => {
    try {
      return await this.#cardTime.during(this.#turn.ask(question, withdrawn))
    } finally {
      this.heard()
    }
  }

  /** Calls `stop` if a limit is passed before `over` aborts. `alive` is called if the agent has been silent too long. */
  begin(over: AbortSignal, alive: (since: number) => Promise<boolean>, stop: (failure: Failure) => void): void {
    this.heard()
    // Both loops end with `over` and never throw: the caller waits for the turn, not for its watch.
    void this.#watchTimeout(over, stop)
    void this.#watchSilence(over, alive, stop)
  }

  /** Records a sign of life of the agent. */
  heard(): void {
    const { clock } = this.#turn
    this.#heardAt = clock.elapsed()
    this.#heardOn = clock.now()
    this.#quiet?.abort()
    this.#quiet = undefined
  }

  async #watchTimeout(over: AbortSignal, stop: (failure: Failure) => void): Promise<void> {
    const { clock } = this.#turn
    for (;;) {
      await this.#cardTime.closed()
      const left = this.#deadline + this.#cardTime.ms - clock.elapsed()
      if (over.aborted) return
      if (left <= 0) break
      await clock.sleep(left, over)
    }
    const message = `${this.#name} took longer than ${seconds(this.#limits.timeoutMs)} and was stopped; raise timeoutSeconds if it needs longer`
    stop({ kind: 'timeout', message })
  }

  async #watchSilence(
    over: AbortSignal,
    alive: (since: number) => Promise<boolean>,
    stop: (failure: Failure) => void,
  ): Promise<void> {
    const { clock } = this.#turn
    while (!over.aborted) {
      const left = this.#heardAt + this.#limits.silenceMs - clock.elapsed()
      if (left > 0) await clock.sleep(left, over)
      else if (this.#cardTime.open || (await alive(this.#heardOn))) this.heard()
      else {
        const failure = await this.#silenceFailure(over)
        if (failure && !over.aborted) return stop(failure)
        this.heard()
      }
    }
  }

  /** The failure that ends the turn of a silent agent; undefined if it gets more time. */
  async #silenceFailure(over: AbortSignal): Promise<Failure | undefined> {
    const long = seconds(this.#limits.silenceMs)
    if (this.#turn.attended) {
      this.#quiet = new AbortController()
      const { signal } = this.#quiet
      const card = askAboutSilence(this.#name, long, this.#turn.ask, AbortSignal.any([over, signal]))
      const wish = await this.#cardTime.during(card)
      if (wish === 'wait' || signal.aborted) return undefined
      if (wish === 'stop') return { kind: 'aborted', message: `${this.#name} was silent for ${long} and was stopped` }
    }
    const message = `${this.#name} was silent for ${long} and was stopped; raise silenceSeconds if it needs longer`
    return { kind: 'timeout', message }
  }
}

/** Asks the person how to handle a silent agent; undefined if nobody answered. */
export async function askAboutSilence(
  agent: string,
  long: string,
  ask: Ask,
  withdrawn: AbortSignal,
): Promise<'wait' | 'switch' | 'stop' | undefined> {
  const picks = await ask(
    {
      about: 'silence',
      text: `${agent} has said nothing for ${long}; none of its tools is running, and no file has changed.`,
      from: [],
      agent,
      options: consentOptions({
        once: { id: 'wait', label: `Wait another ${long}` },
        no: { id: 'stop', label: 'Stop the turn' },
        others: [{ id: 'switch', label: 'End it and continue with the next agent' }],
      }),
      escape: 'wait',
    },
    withdrawn,
  )
  return (['wait', 'switch', 'stop'] as const).find((wish) => picks?.includes(wish))
}

/** Measures how long cards were open in a turn: that time is the person's, not the agent's. */
class CardTime {
  #clock: Clock
  #cards = 0
  #since = 0
  #before = 0
  #done = Promise.withResolvers<void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether a card is open. */
  get open(): boolean {
    return this.#cards > 0
  }

  /** The total time so far; the time of several open cards counts once. */
  get ms(): number {
    return this.#before + (this.open ? this.#clock.elapsed() - this.#since : 0)
  }

  /** Counts the time until a card is answered. */
  async during<T>(answer: Promise<T>): Promise<T> {
    if (this.#cards++ === 0) {
      this.#since = this.#clock.elapsed()
      this.#done = Promise.withResolvers()
    }
    try {
      return await answer
    } finally {
      if (--this.#cards === 0) {
        this.#before += this.#clock.elapsed() - this.#since
        this.#done.resolve()
      }
    }
  }

  /** Resolves when no card is open. */
  async closed(): Promise<void> {
    while (this.open) await this.#done.promise
  }
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`
