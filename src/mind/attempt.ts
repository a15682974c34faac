import type { Attempt, Event } from '../core/talk/entry.ts'
import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import { relay } from '../base/relay.ts'
import { take } from '../core/work/verbs.ts'
import { Handover } from './handover.ts'

export type Watch = {
  mask(text: string): string
  /** The files that changed since it was asked last, so that each try is told of with its own. */
  changes?(): Promise<string[]>
  /** Sees every event go by. */
  see?(event: Event): void
}

/** A failed try as it is kept, and given to whoever comes next. */
export type Tried = Attempt & { by: string }

/** `tried` is it as a failed one, with what it did. */
export type Try = { outcome: Outcome; tried(failure: Failure): Promise<Tried> }

/** One agent's try at a turn. */
export async function* attempt(agent: Agent, turn: Turn, watch: Watch): AsyncGenerator<Event, Try> {
  const handover = new Handover()
  const started = turn.clock.now()
  const outcome = yield* relay(take(agent, turn), (event) => {
    handover.see(event)
    watch.see?.(event)
    return event
  })
  const ms = turn.clock.now() - started
  return { outcome, tried: (failure) => told(agent.name, failure, ms, handover, watch) }
}

async function told(by: string, failure: Failure, ms: number, handover: Handover, watch: Watch): Promise<Tried> {
  // A look that fails is none: the calls still tell what was touched.
  const changed = await watch.changes?.().catch(() => undefined)
  const did = handover.did(watch.mask, changed)
  const masked = { ...failure, message: watch.mask(failure.message) }
  return { type: 'attempt', by, failure: masked, ms, ...(did ? { did } : {}) }
}
