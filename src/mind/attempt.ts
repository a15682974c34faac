import type { Attempt, Event } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import { failed } from '../core/talk/outcome.ts'
import { take } from '../core/work/verbs.ts'
import { Handover } from './handover.ts'

export type Watch = {
  mask(text: string): string
  changes?(): Promise<() => Promise<string[]>>
  /** Sees every event go by. */
  see?(event: Event): void
}

/** A failed try as it is kept, and given to whoever comes next. */
export type Tried = Attempt & { by: string }

/** One agent's try at a turn; a failed one comes with what it did. */
export async function* attempt(
  agent: Agent,
  turn: Turn,
  watch: Watch,
): AsyncGenerator<Event, { outcome: Outcome; tried?: Tried }> {
  const handover = new Handover()
  const started = turn.clock.now()
  const changed = await look(watch)
  const events = take(agent, turn)
  try {
    for (;;) {
      const next = await events.next()
      if (!next.done) {
        handover.see(next.value)
        watch.see?.(next.value)
        yield next.value
        continue
      }
      const outcome = next.value
      if (outcome.ok) return { outcome }
      const did = handover.did(watch.mask, await changed())
      const failure = { ...outcome.failure, message: watch.mask(outcome.failure.message) }
      const ms = turn.clock.now() - started
      return { outcome, tried: { type: 'attempt', by: agent.name, failure, ms, ...(did ? { did } : {}) } }
    }
  } finally {
    await events.return(failed('aborted', 'left'))
  }
}

/** A look that fails is none: the calls still tell what was touched. */
async function look(watch: Watch): Promise<() => Promise<string[] | undefined>> {
  try {
    const after = await watch.changes?.()
    return async () => after?.().catch(() => undefined)
  } catch {
    return async () => undefined
  }
}
