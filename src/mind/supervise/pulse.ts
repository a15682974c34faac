import type { Reading } from '../../core/screen/reading.ts'

/** Without a sign of life for so long, an agent that is not done is told to go on. */
export const pulseMs = 120_000

export type Pulse = { state: Reading['state']; quietMs: number; handsMs: number }

/** In how many ms a living program is told to go on; not at all where the screen is none to type into. */
export function pulse({ state, quietMs, handsMs }: Pulse): number | 'hold' {
  return state === 'idle' ? Math.max(pulseMs - quietMs, handsMs, 0) : 'hold'
}
