import type { Clock } from '../base/time/clock.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { ShownPiece } from '../core/talk/shown-words.ts'
import type { Blobs, Doc, Log, Store } from '../core/talk/store.ts'
import type { Slot, Slots } from './slot.ts'
import { allOf, CrewError, isGone, isSettled, noSlots, parseSlots } from './slot.ts'

/** A workspace's name is part of a path: letters, digits, ".", "_" and "-" of any script, without a leading dot. */
const workspaceName = /^(?!\.)[\p{L}\p{M}\p{N}._-]{1,120}$/u

export function workspaceNamed(name: string): string {
  if (!workspaceName.test(name))
    throw new CrewError(`workspace: found ${JSON.stringify(name)}, allowed: letters, digits, ".", "_" and "-".`)
  return name
}

/** The conversation of a slot. */
export function logOf(store: Store, workspace: string, slot: number): Log<Entry> {
  return store.log(`crew/${workspace}/${slot}`)
}

/** The side log of a slot's turn, with the words that it shows while it runs. */
export function shownOf(store: Store, workspace: string, turn: string): Log<ShownPiece> {
  return store.log(`crew/${workspace}/shown/${turn}`)
}

/** The long texts of a workspace: artifacts, and the last screens of agents that have exited. */
export function blobsOf(store: Store, workspace: string): Blobs {
  return store.blobs(`crew/${workspace}/output`)
}

export type WaitOptions = {
  /** The time of `Clock.elapsed` at which the wait ends. */
  until: number
  mode?: 'any' | 'all'
  signal?: AbortSignal
  settled?(slot: Slot): boolean
}

/** A slot at the end of the wait; without one, the workspace was closed in the meantime. */
export type Waited = { id: number; slot?: Slot; settled: boolean }

/** An entry in the log of changes, which makes its readers read the slots again. */
type Ring = { at: number }

/** The slots of one workspace, shared by all processes: a document that is replaced as a whole, and a log that announces its changes. */
export class SlotLedger {
  #doc: Doc<Slots>
  #bell: Log<Ring>
  #clock: Clock

  constructor(store: Store, workspace: string, clock: Clock) {
    this.#doc = store.doc(`crew/${workspace}/slots`, noSlots)
    this.#bell = store.log(`crew/${workspace}/changes`)
    this.#clock = clock
  }

  async read(): Promise<Slots> {
    return parseSlots(await this.#doc.read())
  }

  async slot(id: number): Promise<Slot | undefined> {
    return (await this.read()).slots[id]
  }

  /** Changes the slots, atomically across processes. If `change` returns its argument, nothing is written or announced. */
  async change(change: (now: Slots) => Slots): Promise<Slots> {
    let changed = false
    const slots = await this.#doc.update((stored) => {
      const now = parseSlots(stored)
      const next = change(now)
      changed = next !== now
      return changed ? next : stored
    })
    if (changed) await this.#ring()
    return parseSlots(slots)
  }

  /** Changes one slot and records when its state began; if `change` returns undefined, the slot stays as it is. */
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

  /** The present slots, and again after each change. */
  async *watch(signal: AbortSignal): AsyncGenerator<Slots> {
    // The position is read before the slots, so that no change is missed between the two reads.
    const after = await this.#bell.end()
    yield await this.read()
    for await (const _ of this.#bell.follow(after, signal)) yield await this.read()
  }

  /** Waits until all of the slots, or any one of them, are settled; a question ends the wait at once. */
  async wait(
    ids: readonly number[],
    { until, mode = 'all', signal, settled = isSettled }: WaitOptions,
  ): Promise<Waited[]> {
    const over = new AbortController()
    const stop = signal ? AbortSignal.any([over.signal, signal]) : over.signal
    // This ends the watch below.
    void this.#clock.sleep(Math.max(0, until - this.#clock.elapsed()), stop).then(() => over.abort())
    const look = (slots: Record<string, Slot>) =>
      ids.map((id): Waited => {
        const slot = slots[id]
        return slot ? { id, slot, settled: settled(slot) } : { id, settled: true }
      })
    try {
      for await (const { slots } of this.watch(stop)) {
        const waited = look(slots)
        if (isEnough(waited, mode) || until <= this.#clock.elapsed()) return waited
      }
      return look((await this.read()).slots)
    } finally {
      over.abort()
    }
  }

  /** Deletes every slot, so that numbers begin at 1 again; returns false and deletes none while an agent is alive. */
  async clear(): Promise<boolean> {
    let cleared = false
    await this.#doc.update((stored) => {
      cleared = allOf(parseSlots(stored)).every(isGone)
      return cleared ? noSlots : stored
    })
    if (cleared) await this.#bell.clear()
    await this.#ring()
    return cleared
  }

  async #ring(): Promise<void> {
    await this.#bell.append({ at: this.#clock.now() })
  }
}

function isEnough(waited: readonly Waited[], mode: 'any' | 'all'): boolean {
  if (waited.some(({ slot, settled }) => settled && slot?.state === 'asking')) return true
  return mode === 'any' ? waited.some(({ settled }) => settled) : waited.every(({ settled }) => settled)
}
