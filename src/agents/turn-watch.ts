import type { Failure } from '../core/talk/outcome.ts'
import type { Ask } from '../core/talk/question.ts'
import type { Turn } from '../core/work/agent.ts'
import type { Clock } from '../base/clock.ts'

export type TimeLimits = { timeoutMs: number; silenceMs: number }

/** What of a turn the watch goes by. */
export type WatchedTurn = Pick<Turn, 'clock' | 'ask' | 'attended'>

/** Watches one turn: too long in all, or nothing that shows that the agent is alive. Its time stands still at a card. */
export class TurnWatch {
  #name: string
  #limits: TimeLimits
  #turn: WatchedTurn
  #deadline: number
  #thinking: CardTime
  #heard = 0
  /** Aborts at the next sign of life: what was asked about the silence is withdrawn by it. */
  #quiet = new AbortController()

  constructor(name: string, limits: TimeLimits, turn: WatchedTurn) {
    this.#name = name
    this.#limits = limits
    this.#turn = turn
    this.#deadline = turn.clock.now() + limits.timeoutMs
    this.#thinking = new CardTime(turn.clock)
  }

  /** How the agent asks the person of the turn. */
  readonly ask: Ask = async (question, withdrawn) => {
    try {
      return await this.#thinking.about(this.#turn.ask(question, withdrawn))
    } finally {
      this.heard()
    }
  }

  /** Calls `stop` when a limit is passed before `over`. */
  begin(over: AbortSignal, alive: (since: number) => Promise<boolean>, stop: (failure: Failure) => void): void {
    this.heard()
    void this.#timeout(over, stop)
    void this.#silence(over, alive, stop)
  }

  /** A sign of life. */
  heard(): void {
    this.#heard = this.#turn.clock.now()
    this.#quiet.abort()
  }

  async #timeout(over: AbortSignal, stop: (failure: Failure) => void): Promise<void> {
    const { clock } = this.#turn
    for (;;) {
      await this.#thinking.over()
      const left = this.#deadline + this.#thinking.ms - clock.now()
      if (over.aborted) return
      if (left <= 0) break
      await clock.sleep(left, over)
    }
    const message = `${this.#name} took longer than ${seconds(this.#limits.timeoutMs)} and was ended; raise timeoutSeconds if it needs longer`
    stop({ kind: 'timeout', message })
  }

  async #silence(
    over: AbortSignal,
    alive: (since: number) => Promise<boolean>,
    stop: (failure: Failure) => void,
  ): Promise<void> {
    const { clock } = this.#turn
    while (!over.aborted) {
      const left = this.#heard + this.#limits.silenceMs - clock.now()
      if (left > 0) await clock.sleep(left, over)
      else if (this.#thinking.open || (await alive(this.#heard))) this.heard()
      else {
        const failure = await this.#decided(over)
        if (failure && !over.aborted) return stop(failure)
        this.heard()
      }
    }
  }

  /** Why the silent agent is ended; undefined when it is waited for. */
  async #decided(over: AbortSignal): Promise<Failure | undefined> {
    const long = seconds(this.#limits.silenceMs)
    if (this.#turn.attended) {
      this.#quiet = new AbortController()
      const { signal } = this.#quiet
      const card = askSilence(this.#name, long, this.#turn.ask, AbortSignal.any([over, signal]))
      const wish = await this.#thinking.about(card)
      if (wish === 'wait' || signal.aborted) return undefined
      if (wish === 'stop') return { kind: 'aborted', message: `${this.#name} was silent for ${long} and was stopped` }
    }
    const message = `${this.#name} was silent for ${long} and was ended; raise silenceSeconds if it needs longer`
    return { kind: 'timeout', message }
  }
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`

/** What a person wants of an agent that says nothing; undefined when nobody answered. */
export async function askSilence(
  agent: string,
  long: string,
  ask: Ask,
  withdrawn: AbortSignal,
): Promise<'wait' | 'switch' | 'stop' | undefined> {
  const picks = await ask(
    {
      about: 'silence',
      text: `${agent} has said nothing for ${long}, no tool of it is at work, and no file has changed.`,
      from: [],
      agent,
      options: [
        { id: 'wait', label: `Wait another ${long}` },
        { id: 'switch', label: 'End it and go on with the next agent' },
        { id: 'stop', label: 'Stop the turn' },
      ],
    },
    withdrawn,
  )
  return (['wait', 'switch', 'stop'] as const).find((wish) => picks?.includes(wish))
}

/** The time that somebody thinks at a card: it is the person's own, and counts against no agent. */
export class CardTime {
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

  /** All of it so far; cards that are open at once are thought about at once. */
  get ms(): number {
    return this.#before + (this.open ? this.#clock.now() - this.#since : 0)
  }

  async about<T>(answer: Promise<T>): Promise<T> {
    if (this.#cards++ === 0) {
      this.#since = this.#clock.now()
      this.#done = Promise.withResolvers()
    }
    try {
      return await answer
    } finally {
      if (--this.#cards === 0) {
        this.#before += this.#clock.now() - this.#since
        this.#done.resolve()
      }
    }
  }

  /** Resolves when no card is open. */
  async over(): Promise<void> {
    while (this.open) await this.#done.promise
  }
}
