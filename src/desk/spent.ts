import type { Event, Usage } from '../core/talk/entry.ts'
import type { Standing } from '../faces/chat/chat-desk.ts'

const strength: readonly Usage['source'][] = ['reported', 'parsed', 'estimated']

/** Tokens and cost as they add up; a sum is no better known than the weakest of its parts. */
export class Spent {
  #used = 0
  #cost: number | undefined
  #source = 0
  #any = false

  /** What a consulted agent spent is kept beside its own event, and comes by itself. */
  see(event: Event): void {
    if (event.type !== 'usage') return
    this.#any = true
    this.#used += event.input + event.output
    if (event.cost !== undefined) this.#cost = (this.#cost ?? 0) + event.cost
    this.#source = Math.max(this.#source, strength.indexOf(event.source))
  }

  /** Undefined when nobody said anything about it. */
  get total(): Standing['tokens'] | undefined {
    return this.#any ? this.standing() : undefined
  }

  standing(): Standing['tokens'] {
    const cost = this.#cost === undefined ? {} : { cost: this.#cost }
    return { used: this.#used, ...cost, source: strength[this.#source]! }
  }
}
