import type { Clock } from '../base/clock.ts'
import type { Doc, Log, Store } from '../core/talk/store.ts'
import type { Slot, Slots } from './slot.ts'
import { allOf, noSlots } from './slot.ts'

/** A slot changed: whoever hears it reads the slots anew. */
type Ring = { at: number }

/** The slots of one workspace, the same for every process: a document that is changed whole, and a log as its doorbell. */
export class Ledger {
  #doc: Doc<Slots>
  #bell: Log<Ring>
  #clock: Clock

  constructor(store: Store, workspace: string, clock: Clock) {
    this.#doc = store.doc(`crew/${workspace}/slots`, noSlots)
    this.#bell = store.log(`crew/${workspace}/changes`)
    this.#clock = clock
  }

  read(): Promise<Slots> {
    return this.#doc.read()
  }

  async slot(id: number): Promise<Slot | undefined> {
    return (await this.read()).slots[id]
  }

  /** Atomic over processes; what `change` gives back as it was rings for nobody. */
  async change(change: (now: Slots) => Slots): Promise<Slots> {
    let changed = false
    const slots = await this.#doc.update((now) => {
      const next = change(now)
      changed = next !== now
      return next
    })
    if (changed) await this.ring()
    return slots
  }

  /** Changes one slot; one that is gone, or for which `change` has nothing, stays as it is. Says when its state began. */
  async edit(id: number, change: (slot: Slot) => Slot | undefined): Promise<Slot | undefined> {
    const { slots } = await this.change((now) => {
      const slot = now.slots[id]
      const next = slot && change(slot)
      if (!next || next === slot) return now
      const since = next.state === slot.state ? next.since : this.#clock.now()
      return { ...now, slots: { ...now.slots, [id]: { ...next, since } } }
    })
    return slots[id]
  }

  async ring(): Promise<void> {
    await this.#bell.append({ at: this.#clock.now() })
  }

  /** The slots as they are now, and again after each change. */
  async *watch(signal: AbortSignal): AsyncGenerator<Slots> {
    // From before the first look, so that no change falls between.
    const after = await this.#bell.end()
    yield await this.read()
    for await (const _ of this.#bell.follow(after, signal)) yield await this.read()
  }

  /** Forgets every slot, and numbers begin again at 1; not as long as one of them is not over: whether it did. */
  async clear(isOver: (slot: Slot) => boolean): Promise<boolean> {
    let cleared = false
    await this.#doc.update((now) => {
      cleared = allOf(now).every(isOver)
      return cleared ? noSlots : now
    })
    if (cleared) await this.#bell.clear()
    await this.ring()
    return cleared
  }
}
