import type { Event } from '../../core/talk/entry.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Doc } from '../../core/talk/store.ts'
import type { Cooldown, Health, Limit } from './health.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { resetTime } from '../../core/talk/reset-time.ts'
import { afterFailure, afterSuccess, noHealth, spentLimit } from './health.ts'
import { learnedAs } from './learned-quotas.ts'

type RecordOptions = {
  health: Doc<Health>
  cooldown: Cooldown
  first?: string
  consulted?: boolean
  mask(text: string): string
}

/**
 * The health of the agents during one turn: read when the turn begins, and written after each attempt. If the record cannot be used, the
 * turn continues without it, because the turn matters more than the right order of the agents.
 */
export class HealthRecord {
  now: Health = noHealth
  #o: RecordOptions
  #clock: Turn['clock']
  #lost = false

  constructor(o: RecordOptions, clock: Turn['clock']) {
    this.#o = o
    this.#clock = clock
  }

  async *read(): AsyncGenerator<Event, void> {
    this.now = yield* this.#from(this.#o.health.read(), noHealth)
  }

  async *succeeded(name: string, limits: readonly Limit[]): AsyncGenerator<Event, void> {
    const { first, consulted, cooldown, health } = this.#o
    const moves = first === undefined && !consulted
    const now = this.#clock.now()
    // If an answer used up an agent's quota, the agent is parked at once, so that no request is wasted on it.
    const spent = spentLimit(limits, now)
    const change = (before: Health) => {
      const after = afterSuccess(before, name, moves)
      return spent ? afterFailure(after, name, spent, now, cooldown) : after
    }
    const before = yield* this.#from(health.read(), this.now)
    if (change(before) !== before) yield* this.#from(health.update(change), before)
  }

  async *failed(name: string, failure: Failure): AsyncGenerator<Event, void> {
    const now = this.#clock.now()
    const change = (before: Health) => afterFailure(before, name, failure, now, this.#o.cooldown)
    const changed = change(this.now)
    if (changed !== this.now) this.now = yield* this.#from(this.#o.health.update(change), changed)
  }

  /**
   * A crash counts as a spent quota if the person said so about its message. The learned message is the masked one, as the person saw it.
   */
  asLearned(name: string, failure: Failure): Failure {
    if (failure.kind !== 'crash' || learnedAs(this.now, name, this.#o.mask(failure.message)) !== 'quota') return failure
    const retryAt = resetTime(failure.message, this.#clock.now())
    return defined<Failure>({ kind: 'quota', message: failure.message, retryAt })
  }

  async *#from(health: Promise<Health>, instead: Health): AsyncGenerator<Event, Health> {
    try {
      return await health
    } catch (error) {
      const text = `continuing without the agents' health record, which could not be used: ${messageOf(error)}`
      if (!this.#lost) yield { type: 'note', text, by: 'termaite' }
      this.#lost = true
      return instead
    }
  }
}
