import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { ShiftParts } from './parts.ts'
import { failed } from '../../core/talk/outcome.ts'
import { take } from '../../core/work/verbs.ts'

/** A turn of the CLI, kept as it goes where there is somewhere to keep it. */
export async function* taken(
  cli: Agent,
  turn: Turn,
  { conversation, outlives, signal: left }: Pick<ShiftParts, 'conversation' | 'outlives' | 'signal'>,
): AsyncGenerator<Event, Outcome> {
  if (!conversation) return yield* take(cli, turn)
  const { prompt, cwd, leash, signal, ask, budget } = turn
  const world = { cwd, leash, signal, ask, budget, ...(outlives ? { left } : {}) }
  let outcome: Outcome = failed('aborted', 'cancelled')
  for await (const event of conversation.converse(asItIs(cli, turn), prompt, world))
    if (event.type === 'end') outcome = event.outcome
    else yield event
  // What could only not be kept was done all the same.
  return !outcome.ok && outcome.unkept ? { ok: true, ...outcome.unkept } : outcome
}

/** What was said before is the CLI's own to remember, and what another process sent is known by its mark. */
function asItIs(cli: Agent, { id, sent }: Turn): Agent {
  const marked = sent === undefined ? {} : { id, sent }
  return {
    name: cli.name,
    traits: cli.traits,
    async *turn(kept) {
      yield { type: 'end', outcome: yield* take(cli, { ...kept, history: [], ...marked }) }
    },
    close: () => cli.close(),
  }
}
