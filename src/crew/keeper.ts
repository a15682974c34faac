import type { KeeperParts } from './parts.ts'
import type { Slot, Slots } from './slot.ts'
import { Channel } from '../base/channel.ts'
import { readinessOf } from '../core/work/dependencies.ts'
import { Carrier } from './carrier.ts'
import { Ledger } from './ledger.ts'
import { Patience } from './life.ts'
import { allOf, isOver, isUnderWay, nameOf, worksOf } from './slot.ts'

/** So often it looks without being called: dead processes ring no bell, and held spawns run out of time. */
const tickMs = 1_000

/** A process that carries agents: those that it spawned, and those whose process is gone. */
export class Keeper {
  #parts: KeeperParts
  #ledger: Ledger
  #carriers = new Map<number, Carrier>()
  #patience = new Patience()
  #leave = new AbortController()
  #due = new Channel<void>(1)
  #tending: Promise<void>

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#ledger = new Ledger(parts.store, parts.workspace, parts.clock)
    this.#tending = this.#tend()
  }

  /** Lets go of everything: what outlives us is taken up by whoever keeps the crew next, the rest is ended. */
  async leave(): Promise<void> {
    this.#leave.abort()
    this.#due.close()
    await this.#tending
    await Promise.all([...this.#carriers.values()].map((carrier) => carrier.leave()))
    await this.#ledger.change((now) => without(now, this.#parts.owner))
  }

  /** Lets go if nothing is left to be done here: whether it did. In one step, so that nobody speaks to us meanwhile. */
  async retire(): Promise<boolean> {
    const { owner, outlives, alive } = this.#parts
    const isOthers = (slot: Slot) => slot.owner !== undefined && slot.owner !== owner && alive(slot.owner)
    let idle = false
    await this.#ledger.change((now) => {
      const own = allOf(now).filter((slot) => !isOver(slot) && !isOthers(slot))
      idle = outlives() ? !own.some(isUnderWay) : own.length === 0
      return idle ? without(now, owner) : now
    })
    if (idle) await this.leave()
    return idle
  }

  async #tend(): Promise<void> {
    const { clock } = this.#parts
    const { signal } = this.#leave
    const ticking = (async () => {
      while (!signal.aborted) {
        await clock.sleep(tickMs, signal)
        this.#due.offer()
      }
    })()
    const ringing = (async () => {
      while (!signal.aborted) {
        try {
          for await (const _ of this.#ledger.watch(signal)) this.#due.offer()
        } catch {
          // A store that cannot be read now may be mended: whoever asks for the crew is told what is wrong with it.
          await clock.sleep(tickMs, signal)
        }
      }
    })()
    for await (const _ of this.#due) await this.#look().catch(() => {})
    await Promise.all([ticking, ringing])
  }

  async #look(): Promise<void> {
    const { owner } = this.#parts
    const found = await this.#ledger.read()
    const slots = this.#wouldChange(found) ? await this.#ledger.change((now) => this.#tended(now)) : found
    for (const slot of allOf(slots)) {
      if (slot.owner !== owner || slot.state === 'held' || this.#leave.signal.aborted) continue
      const carrier = this.#carriers.get(slot.id)
      if (!carrier && !isOver(slot)) this.#carry(slot)
      else if (slot.wish) carrier?.kill()
      else if (slot.queue.length > 0) carrier?.nudge()
    }
  }

  /** Asked first, so that a look at a crew at rest writes nothing. */
  #wouldChange(slots: Slots): boolean {
    return this.#tended(slots) !== slots
  }

  /** The orphans are ours; held spawns go, fail, or wait on. */
  #tended(now: Slots): Slots {
    let slots = now
    const put = (slot: Slot) => (slots = { ...slots, slots: { ...slots.slots, [slot.id]: slot } })
    const { owner, alive, clock } = this.#parts
    for (const slot of allOf(now))
      if (!isOver(slot) && (slot.owner === undefined || !alive(slot.owner))) put({ ...slot, owner })
    for (let moved = true; moved;) {
      moved = false
      for (const slot of allOf(slots)) {
        if (slot.state !== 'held' || slot.owner !== owner) continue
        const next = this.#held(slot, slots, clock.now())
        if (next === slot) continue
        put(next)
        moved = true
      }
    }
    return slots
  }

  #held(slot: Slot, slots: Slots, now: number): Slot {
    const { wish: _wish, terminal: _terminal, ...rest } = slot
    const ended = (state: 'failed' | 'exited', why: string): Slot => ({ ...rest, state, why, since: now, queue: [] })
    if (slot.wish) return ended('exited', 'killed')
    const may = readinessOf(nameOf(slot.id), worksOf(slots))
    if (may.ready) return { ...slot, state: 'starting', since: now }
    if ('never' in may) return ended('failed', may.never)
    if (!this.#patience.isOver(slot, slots, now, this.#parts.alive)) return slot
    const waits = may.waitsFor.join(' and ')
    return ended('failed', `${nameOf(slot.id)} was held for ${slot.patience / 1000} s, and ${waits} did not finish`)
  }

  #carry(slot: Slot): void {
    const carrier = new Carrier(slot, this.#parts, this.#ledger)
    this.#carriers.set(slot.id, carrier)
    // Somebody may have spoken to it just before it was put down: then it is taken up again.
    void carrier.done.then(() => {
      this.#carriers.delete(slot.id)
      this.#due.offer()
    })
  }
}

function without(now: Slots, owner: string): Slots {
  const own = allOf(now).filter((slot) => slot.owner === owner)
  if (own.length === 0) return now
  const slots = { ...now.slots }
  for (const { owner: _owner, ...slot } of own) slots[slot.id] = slot
  return { ...now, slots }
}
