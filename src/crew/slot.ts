import type { Outcome } from '../core/talk/outcome.ts'
import type { Ref } from '../core/talk/ref.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Work } from '../core/work/depends.ts'
import { placeholders } from '../core/work/depends.ts'

export type SlotState = 'held' | 'starting' | 'busy' | 'idle' | 'asking' | 'exited' | 'failed'

/** A crew member's place. */
export type Slot = {
  id: string
  agent: string
  task: string
  cwd: string
  leash: Leash
  needs: string[]
  state: SlotState
  owner: string
  /** Why it is in this state, where that needs saying. */
  why?: string
  session: string
  /** `artifact` is its last answer. */
  last?: { turn: string; outcome: Outcome; artifact?: Ref }
}

export type Slots = { next: number; slots: Record<string, Slot> }

export const noSlots: Slots = { next: 1, slots: {} }

/** A slot as others wait for it: an answer is done, whatever became of the slot after it. */
export function workOf(slot: Slot): Work {
  const { id, needs, why } = slot
  if (slot.last?.outcome.ok) return { id, needs, state: 'done' }
  if (slot.state === 'failed' || slot.state === 'exited')
    return { id, needs, state: 'dead', ...(why === undefined ? {} : { why }) }
  return { id, needs, state: slot.state === 'held' ? 'waiting' : 'running' }
}

/** What can never be filled, because the slot does not wait for it. */
export function strayPlaceholder(slot: Slot): string | undefined {
  const stray = placeholders(slot.task).find((id) => !slot.needs.includes(id))
  return stray && `{{slot_${stray}.output}} is in the task, but ${slot.id} does not depend on ${stray}`
}
