import type { Failure } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import { askSilence } from './silence.ts'

export type Limits = { timeoutMs: number; silenceMs: number }

/** What of a turn the watch goes by. */
export type Watched = Pick<Turn, 'clock' | 'ask' | 'attended'>

/** Watches one turn: too long in all, or nothing that shows that the agent is alive. */
export class Watch {
  #name: string
  #limits: Limits
  #turn: Watched
  #deadline: number
  #heard = 0
  /** Aborts at the next sign of life: what was asked about the silence is withdrawn by it. */
  #quiet = new AbortController()

  constructor(name: string, limits: Limits, turn: Watched) {
    this.#name = name
    this.#limits = limits
    this.#turn = turn
    this.#deadline = turn.clock.now() + limits.timeoutMs
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
    for (let left; (left = this.#deadline - clock.now()) > 0 && !over.aborted;) await clock.sleep(left, over)
    if (over.aborted) return
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
      else if (await alive(this.#heard)) this.heard()
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
      const wish = await askSilence(this.#name, long, this.#turn.ask, AbortSignal.any([over, signal]))
      if (wish === 'wait' || signal.aborted) return undefined
      if (wish === 'stop') return { kind: 'aborted', message: `${this.#name} was silent for ${long} and was stopped` }
    }
    const message = `${this.#name} was silent for ${long} and was ended; raise silenceSeconds if it needs longer`
    return { kind: 'timeout', message }
  }
}

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`
