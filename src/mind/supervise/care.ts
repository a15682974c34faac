import type { Clock } from '../../base/clock.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Facts } from './life.ts'
import type { Open, Policy } from './parts.ts'
import type { Over, Told } from './telling.ts'
import type { Case, Ending, Verdict } from './verdict.ts'
import { handsOn } from './hands.ts'
import { Life } from './life.ts'
import { parkedUntil } from './parking.ts'
import { pulse } from './pulse.ts'
import { Restarts } from './restarts.ts'
import { verdict } from './verdict.ts'

export type Caring = Policy & {
  clock: Clock
  /** How its screen is read; left out where it has none. */
  facts?: Facts
  tell?(told: Told): void
}

/** What happened to a program, and what is done about it: something that takes its time, or nothing more. */
export type Trouble = { failure?: Failure; ending?: Ending; inHand: boolean; nudges: number }
export type Plan = { go(signal: AbortSignal): Promise<void>; nudges: boolean }

/** The keys are looked at again so soon, at the latest. */
const handsEveryMs = 30_000

/** One program that is kept alive: opened, looked after, ended before it is opened again, and left alone once it is over. */
export class Care {
  /** Why it is not at work any more. */
  over: Over | undefined
  /** Whether it was told nothing yet. */
  blank = false
  /** The key of its own session. */
  session: string | undefined
  /** When we last typed something. */
  typedAt = 0
  #open: Open
  #with: Caring
  #restarts: Restarts
  #life: Life | undefined
  #refused = 0

  constructor(open: Open, caring: Caring, session: string | undefined) {
    this.#open = open
    this.#with = caring
    this.#restarts = new Restarts(caring)
    this.session = session
  }

  /** The one life there is, begun where there is none. */
  get life(): Life {
    if (!this.#life) {
      const { clock, facts = { reader: {} }, tell } = this.#with
      this.#life = new Life(this.#open(this.session), facts, clock)
      const { came } = this.#life
      if (came === 'began') this.blank = true
      tell?.({ type: 'started', came })
    }
    return this.#life
  }

  get now(): Life | undefined {
    return this.#life
  }

  /** It did what it was asked. */
  well(life: Life): void {
    this.#restarts.well()
    this.#refused = 0
    life.did = true
    this.blank = false
  }

  /** It did not, and is not asked again: it was told all the same. */
  told(): void {
    this.blank = false
  }

  /** For good: whoever looked after it does not any more. */
  async leave(how: 'close' | 'leave'): Promise<void> {
    this.over ??= { type: 'left' }
    await this.#end(how)
  }

  async #end(how: 'close' | 'leave' = 'close'): Promise<void> {
    const agent = this.#life?.agent
    this.#life = undefined
    await (how === 'leave' && agent?.leave ? agent.leave() : agent?.close())?.catch(() => {})
  }

  /** Undefined when nothing more is done; `over` says why, where that is for good. */
  async plan(life: Life, { failure, ending: seen, inHand, nudges }: Trouble): Promise<Plan | undefined> {
    // Who said goodbye was ended by us; otherwise that it is gone says more than how it looked.
    const ending = seen?.type === 'goodbye' ? seen : ((await life.ended()) ?? seen)
    if (this.over) return undefined
    const state = ending ? undefined : (await life.look())?.reading.state
    const found: Case = {
      ...(failure ? { failure } : {}),
      ...(ending ? { ending } : {}),
      ...(state ? { state } : {}),
      inHand,
      did: life.did,
      nudges,
    }
    return this.#planned(verdict(found), life)
  }

  /** Waits until no hands are on the keys. */
  async free(life: Life, signal: AbortSignal): Promise<void> {
    for (let ms; (ms = await this.#hands(life)) > 0 && !signal.aborted;)
      await life.sleep(Math.min(ms, handsEveryMs), signal)
  }

  #planned(found: Verdict, life: Life): Plan | undefined {
    switch (found.do) {
      case 'stop':
        return undefined
      case 'quit':
        this.over = { type: 'quit' }
        return undefined
      case 'give-up':
        this.over = { type: 'gave-up', why: found.why }
        return undefined
      case 'park':
        return { go: (signal) => this.#park(life, found.failure, signal), nudges: false }
      case 'nudge':
        return { go: (signal) => this.#nudge(life, found.why, signal), nudges: true }
      case 'restart': {
        const { clock, mostAnHour } = this.#with
        const ms = this.#restarts.next(clock.now(), found.counts)
        if (ms !== undefined) return { go: (signal) => this.#restart(found, ms, signal), nudges: false }
        const why = `it was started again ${mostAnHour} times within an hour: ${found.why}`
        this.over = { type: 'gave-up', why }
        return undefined
      }
    }
  }

  async #restart({ why, fresh }: Verdict & { do: 'restart' }, ms: number, signal: AbortSignal): Promise<void> {
    const { tell, clock } = this.#with
    tell?.({ type: 'restarting', why, in: ms })
    // Gone before another one comes: there are never two.
    await this.#end()
    if (fresh) this.session = undefined
    await clock.sleep(ms, signal)
  }

  /** Its session stays where it is; one that leaves meanwhile goes on with it afterwards. */
  async #park(life: Life, failure: Failure, signal: AbortSignal): Promise<void> {
    const { clock, tell } = this.#with
    const until = parkedUntil(failure, clock.now(), this.#refused++)
    tell?.({ type: 'parked', until, why: failure.message })
    await life.sleep(until - clock.now(), signal)
    const ending = await life.ended()
    if (!ending) return
    if (verdict({ ending, inHand: true, did: true, nudges: 0 }).do === 'quit') this.over = { type: 'quit' }
    await this.#end()
    if (!this.over) await clock.sleep(until - clock.now(), signal)
  }

  async #nudge(life: Life, why: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const seen = await life.look()
      if (!seen) return
      const { reading, quietMs } = seen
      const due = pulse({ state: reading.state, quietMs, handsMs: await this.#hands(life) })
      if (due === 'hold' || due === 0) break
      await life.sleep(Math.min(due, handsEveryMs), signal)
    }
    if (!signal.aborted) this.#with.tell?.({ type: 'nudged', why })
  }

  async #hands(life: Life): Promise<number> {
    const seen = await life.look()
    const now = this.#with.clock.now()
    return seen ? handsOn({ touched: seen.touched, told: this.typedAt, composer: seen.composer, now }) : 0
  }
}
