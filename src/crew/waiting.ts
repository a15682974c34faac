import type { Clock } from '../base/clock.ts'
import type { Ledger } from './ledger.ts'
import type { Slot } from './slot.ts'
import { isSettled } from './slot.ts'

export type WaitWishes = {
  /** In ms since 1970. */
  until: number
  mode?: 'any' | 'all'
  signal?: AbortSignal
  settled?(slot: Slot): boolean
}

/** A slot as it was when the wait ended; without one the workspace was closed meanwhile. */
export type Waited = { id: number; slot?: Slot; settled: boolean }

/** Waits until the slots, or one of them, need not be waited for any longer; a question ends it at once. */
export async function waitFor(
  ledger: Ledger,
  clock: Clock,
  ids: readonly number[],
  { until, mode = 'all', signal, settled = isSettled }: WaitWishes,
): Promise<Waited[]> {
  const over = new AbortController()
  const stop = signal ? AbortSignal.any([over.signal, signal]) : over.signal
  void clock.sleep(Math.max(0, until - clock.now()), stop).then(() => over.abort())
  const look = (slots: Record<string, Slot>) =>
    ids.map((id): Waited => {
      const slot = slots[id]
      return slot ? { id, slot, settled: settled(slot) } : { id, settled: true }
    })
  try {
    for await (const { slots } of ledger.watch(stop)) {
      const waited = look(slots)
      if (enough(waited, mode) || until <= clock.now()) return waited
    }
    return look((await ledger.read()).slots)
  } finally {
    over.abort()
  }
}

function enough(waited: readonly Waited[], mode: 'any' | 'all'): boolean {
  if (waited.some(({ slot, settled }) => settled && slot?.state === 'asking')) return true
  return mode === 'any' ? waited.some(({ settled }) => settled) : waited.every(({ settled }) => settled)
}
