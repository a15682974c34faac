import type { Event } from '../../src/core/talk/entry.ts'
import type { Outcome } from '../../src/core/talk/outcome.ts'
import type { Turn } from '../../src/core/work/agent.ts'
import { settled } from '../hand-clock.ts'
import { phasesIn } from './rig.ts'

type Think = (over: Partial<Turn>) => Promise<{ events: Event[]; result: Outcome }>

/** Cancels a turn once nothing of it moves any more: where it stood then, and how it ended. */
export async function cancelled(think: Think): Promise<{ last: string | undefined; kind: string | undefined }> {
  const cancel = new AbortController()
  const thought = think({ signal: cancel.signal })
  for (let i = 0; i < 10; i++) await settled()
  cancel.abort()
  const { events, result } = await thought
  return { last: phasesIn(events).at(-1), kind: result.ok ? undefined : result.failure.kind }
}
