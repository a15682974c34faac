import type { KeeperParts } from './crew-parts.ts'
import type { GoneSlot, HeldSlot, LivingSlot, Slot, Slots } from './slot.ts'
import { Channel } from '../base/channel.ts'
import { SteadyTime } from '../base/time/clock.ts'
import { readinessOf } from '../core/work/dependencies.ts'
import { SlotLedger } from './slot-ledger.ts'
import { goneSlot, startSlot } from './slot-moves.ts'
import { SlotRunner } from './slot-runner.ts'
import { allOf, isGone, isLiving, nameOf, needsKeeper, worksOf } from './slot.ts'
import { hasRoom } from './spawn.ts'

/** How often a keeper checks its slots without a change: dead processes announce nothing, and the patience of held slots runs out. */
const tickMs = 1_000

/** Runs the agents of a crew in this process: its own, and those whose process has exited. */
export class Keeper {
  #parts: KeeperParts
  #ledger: SlotLedger
  #runners = new Map<number, SlotRunner>()
  #leave = new AbortController()
  #due = new Channel<void>(1)
  /** Since when each held slot has waited, by its id, in monotonic time: setting the clock makes no wait longer or shorter. */
  #held = new Map<number, { since: number; steady: number }>()
  #time: SteadyTime
  #tending: Promise<void>
  /** Set when this keeper has released its slots and is leaving: it must not take them again. */
  #isReleased = false

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#time = new SteadyTime(parts.clock)
    this.#ledger = new SlotLedger(parts.store, parts.workspace, parts.clock)
    this.#tending = this.#tend()
  }

  /** Stops keeping: agents whose terminals outlive this process are left to the next keeper, the other agents are stopped. */
  async leave(): Promise<void> {
    this.#leave.abort()
    this.#due.close()
    await this.#tending
    await Promise.all([...this.#runners.values()].map((runner) => runner.leave()))
    await this.#ledger.change((now) => withoutOwner(now, this.#parts.owner))
  }

  /**
   * Leaves if no agent needs this keeper, and returns whether it did. The check and the release are one change, so that no prompt arrives
   * between them.
   */
  async retire(): Promise<boolean> {
    const { owner, outlives, alive } = this.#parts
    const isOthers = (slot: Slot) => slot.owner !== undefined && slot.owner !== owner && alive(slot.owner)
    let idle = false
    await this.#ledger.change((now) => {
      const own = allOf(now)
        .filter(isLiving)
        .filter((slot) => !isOthers(slot))
      idle = outlives() ? !own.some(needsKeeper) : own.length === 0
      this.#isReleased = idle
      return idle ? withoutOwner(now, owner) : now
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
    const watching = (async () => {
      while (!signal.aborted) {
        try {
          for await (const _ of this.#ledger.watch(signal)) this.#due.offer()
        } catch {
          // A store that fails now may work later; commands that use the crew report the problem.
          await clock.sleep(tickMs, signal)
        }
      }
    })()
    for await (const _ of this.#due) await this.#look().catch(() => {})
    await Promise.all([ticking, watching])
  }

  async #look(): Promise<void> {
    const { owner } = this.#parts
    const found = await this.#ledger.read()
    // Only a worker can be held because the crew is full.
    const waits = allOf(found).some(({ state, worker }) => state === 'held' && worker)
    const elsewhere = waits ? await this.#parts.elsewhere() : 0
    const tended = (now: Slots) => this.#tended(now, elsewhere)
    // The change is first tried on the slots that were just read, so that watching an idle crew writes nothing.
    const slots = tended(found) === found ? found : await this.#ledger.change(tended)
    for (const slot of allOf(slots)) {
      if (slot.owner !== owner || slot.state === 'held' || this.#leave.signal.aborted) continue
      const runner = this.#runners.get(slot.id)
      if (!runner && isLiving(slot)) this.#run(slot)
      else if (slot.wish) runner?.kill()
      else if (slot.queue.length > 0) runner?.nudge()
    }
  }

  /** Takes slots without a living owner, and lets held slots start, fail or keep waiting. */
  #tended(now: Slots, elsewhere: number): Slots {
    if (this.#isReleased) return now
    let slots = now
    const put = (slot: Slot) => (slots = { ...slots, slots: { ...slots.slots, [slot.id]: slot } })
    const { owner, alive, clock } = this.#parts
    // A worker is not taken over: it ends with its coordinator, at the latest when the next coordinator starts.
    for (const slot of allOf(now))
      if (!isGone(slot) && !slot.worker && (slot.owner === undefined || !alive(slot.owner))) put({ ...slot, owner })
    for (let moved = true; moved;) {
      moved = false
      for (const slot of allOf(slots)) {
        if (slot.state !== 'held' || slot.owner !== owner) continue
        const next = this.#heldNext(slot, slots, clock.now(), elsewhere)
        if (next === slot) continue
        put(next)
        moved = true
      }
    }
    return slots
  }

  #heldNext(slot: HeldSlot, slots: Slots, now: number, elsewhere: number): Slot {
    const ended = (state: 'failed' | 'exited', why: string): GoneSlot => ({
      ...goneSlot(slot, { state, why, worktree: slot.worktree }),
      since: now,
    })
    if (slot.wish) return ended('exited', 'killed')
    const may = readinessOf(nameOf(slot.id), worksOf(slots))
    const hasPlace = !slot.worker || hasRoom(slots, this.#parts.limits, elsewhere)
    if (may.ready) return hasPlace ? startSlot(slot, now) : slot
    if ('never' in may) return ended('failed', may.never)
    // The time counts from the spawn, because a slot is held from then on.
    if (this.#waitedMs(slot) < slot.patience) return slot
    const needs = may.waitsFor.join(' and ')
    const mend = 'spawn it again with a longer depends_on_timeout'
    return ended(
      'failed',
      `${nameOf(slot.id)} waited ${slot.patience / 1000} s for ${needs}, which had not finished; ${mend}`,
    )
  }

  #waitedMs({ id, since }: HeldSlot): number {
    const known = this.#held.get(id)
    const held = known?.since === since ? known : { since, steady: this.#time.of(since) }
    this.#held.set(id, held)
    return this.#time.now() - held.steady
  }

  #run(slot: LivingSlot): void {
    const runner = new SlotRunner(slot, this.#parts)
    this.#runners.set(slot.id, runner)
    // A prompt may have arrived just before the runner was done: another check takes the slot again.
    void runner.done.then(() => {
      this.#runners.delete(slot.id)
      this.#due.offer()
    })
  }
}

function withoutOwner(now: Slots, owner: string): Slots {
  const own = allOf(now).filter((slot) => slot.owner === owner)
  if (own.length === 0) return now
  const slots = { ...now.slots }
  for (const { owner: _owner, ...slot } of own) slots[slot.id] = slot
  return { ...now, slots }
}
