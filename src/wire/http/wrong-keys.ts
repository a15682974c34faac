import type { Clock } from '../../base/time/clock.ts'
import { createHash } from 'node:crypto'
import { networkOf } from '../../base/http/address-ranges.ts'

/** How many wrong keys are allowed before a wait begins. */
const freeTries = 10
const longestWaitSeconds = 60
/** After this time without a wrong key the count restarts. */
const forgetMs = 10 * 60_000
/** How many addresses, and keys, are remembered, so that nobody can fill the memory. */
const mostKnown = 1_000

/**
 * Counts wrong keys in two ways: how often each key was sent, from any address, and how many different keys each address guessed. So a
 * client that repeats an expired key only delays itself, and does not use up the attempts of everybody behind its proxy. Right keys are
 * never checked here, so others cannot lock out somebody who has one.
 */
export class WrongKeys {
  #addresses: Tallies
  #keys: Tallies

  constructor(clock: Clock) {
    this.#addresses = new Tallies(clock)
    this.#keys = new Tallies(clock)
  }

  get size(): number {
    return this.#addresses.size + this.#keys.size
  }

  /** Counts a wrong key from an address; returns how many seconds the sender has to wait, 0 if it need not wait. */
  count(address: string, key: string): number {
    const network = networkOf(address)
    const hash = createHash('sha256').update(key).digest('base64')
    const wait = Math.max(this.#addresses.waitOf(network), this.#keys.waitOf(hash))
    if (wait > 0) return wait
    if (!this.#keys.knows(hash)) this.#addresses.add(network)
    this.#keys.add(hash)
    return 0
  }
}

/** Counts events by name, and says how long each name has to wait: longer each time after the free tries. */
class Tallies {
  #clock: Clock
  /** The names in the order of their last count, newest last. */
  #known = new Map<string, { count: number; at: number; until: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#known.size
  }

  knows(name: string): boolean {
    const known = this.#known.get(name)
    return known !== undefined && this.#clock.elapsed() - known.at < forgetMs
  }

  waitOf(name: string): number {
    const until = this.#known.get(name)?.until ?? 0
    return Math.ceil(Math.max(0, until - this.#clock.elapsed()) / 1000)
  }

  add(name: string): void {
    const now = this.#clock.elapsed()
    const count = this.knows(name) ? this.#known.get(name)!.count + 1 : 1
    const wait = count < freeTries ? 0 : Math.min(longestWaitSeconds, 2 ** (count - freeTries))
    this.#known.delete(name)
    this.#known.set(name, { count, at: now, until: now + wait * 1000 })
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size > mostKnown) this.#known.delete(oldest)
  }
}
