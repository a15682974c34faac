import type { Slot, Slots } from './slot.ts'

/** A busy agent that shows nothing for so long shows no life. */
const silentMs = 60_000

/**
 * Whether what a held slot needs is on its way: at work and showing life, asking somebody who has yet to answer,
 * or held itself for something that is.
 */
export function needsLive(slot: Slot, { slots }: Slots, now: number, alive: (owner: string) => boolean): boolean {
  const lives = (id: number, path: readonly number[]): boolean => {
    const need = slots[id]
    if (!need || path.includes(id)) return false
    if (need.state === 'held') return need.needs.some((further) => lives(further, [...path, id]))
    if (need.owner === undefined || !alive(need.owner)) return false
    if (need.state === 'asking') return true
    return need.state === 'busy' && now - (need.seen ?? need.since) < silentMs
  }
  return slot.needs.some((id) => lives(id, [slot.id]))
}

/** How long held slots have been waiting in vain: time stands still while what they need is on its way. */
export class Patience {
  #spent = new Map<number, { ms: number; at: number }>()

  /** Whether a slot has waited long enough; to be asked again and again. */
  isOver(slot: Slot, slots: Slots, now: number, alive: (owner: string) => boolean): boolean {
    const before = this.#spent.get(slot.id) ?? { ms: 0, at: now }
    const ms = before.ms + (needsLive(slot, slots, now, alive) ? 0 : now - before.at)
    this.#spent.set(slot.id, { ms, at: now })
    return ms >= slot.patience
  }
}
