import type { Slot } from '../../crew/slot.ts'
import { momentFrom } from '../../base/moment.ts'
import { oneLine, table } from '../table.ts'

/** A crew as a person sees it. */
export function crewTable(slots: readonly Slot[], now: number): string {
  return table([
    ['SLOT', 'AGENT', 'STATE', 'SINCE', 'TASK'],
    ...slots.map((slot) => [
      String(slot.id),
      slot.agent,
      stateWords(slot),
      momentFrom(now, slot.since),
      oneLine(slot.task, 60),
    ]),
  ])
}

function stateWords({ state, why, needs, queue, asks }: Slot): string {
  if (state === 'held') return `held for ${needs.join(', ')}`
  if (state === 'asking' && asks?.[0]) return `asking: ${oneLine(asks[0].question.text, 50)}`
  if (why !== undefined) return `${state}: ${oneLine(why, 60)}`
  return queue.length > 0 && state !== 'starting' ? `${state}, ${queue.length} queued` : state
}
