import type { Ask } from '../core/talk/question.ts'
import type { Slot } from './slot.ts'

/** What a slot's questions are kept by. */
export type AskingSlot = {
  edit(change: (slot: Slot) => Slot): Promise<Slot | undefined>
  /** Told when the state it shows may be another. */
  shown(slot: Slot): Promise<void>
  /** Once aborted nothing more is kept. */
  left: AbortSignal
}

/**
 * Shows that a slot asks, and never answers: whoever does writes it on the slot's log. `start` is what the question
 * belongs to when no turn is under way.
 */
export function asksOf({ edit, shown, left }: AskingSlot, start?: string): Ask {
  return async (question, withdrawn, ask = '') => {
    if (withdrawn.aborted) return undefined
    const asked = await edit((slot) => {
      const turn = start ?? slot.flight?.turn ?? ''
      return { ...slot, state: 'asking', asks: [...(slot.asks ?? []), { ask, turn, question }] }
    })
    if (asked) await shown(asked)
    await aborted(withdrawn)
    if (left.aborted) return undefined
    const answered = await edit(({ asks = [], ...slot }) => {
      const open = asks.filter((one) => one.ask !== ask)
      if (open.length > 0) return { ...slot, asks: open }
      return slot.state === 'asking' ? { ...slot, state: start ? 'starting' : 'busy' } : slot
    })
    if (answered) await shown(answered)
    return undefined
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
