import type { Agent, Leash } from '../../core/work/agent.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { looser } from '../../core/work/agent.ts'
import { vendorOf } from '../../settings/agent-settings.ts'

/** What each leash means for our own agent. */
export const nativeLeashes: Record<Leash, string> = {
  read: 'reads and searches the project; no shell, no edits',
  ask: 'asks before it acts, and waits for your answer',
  edit: 'edits files in the project without asking; asks before it runs commands',
  all: 'does everything without asking',
}

/** A seat of our own agent; what it is made of is loaded when its turn comes. */
export function nativeSeat(seat: NativeSeat, parts: NativeParts): Agent {
  const { agent, leash, window } = seat
  const more = looser(leash, nativeLeashes)
  const vendor = vendorOf(agent)
  return {
    name: agent.name,
    traits: {
      window,
      memory: 'none',
      talks: true,
      steers: true,
      ...(vendor === undefined ? {} : { vendor }),
      ...(more ? { looser: more } : {}),
    },
    async *turn(turn) {
      const [{ openNative }, { checkTrust }, { auditTrouble }, { notifying, notifyOfAsks }] = await Promise.all([
        import('./native-agent.ts'),
        import('./native-trust.ts'),
        import('./native-permissions.ts'),
        import('./native-hooks.ts'),
      ])
      const { held, trusted } = yield* checkTrust(turn, seat, parts)
      const own = { ...turn, leash: held.leash, ask: notifying(turn.ask, held, parts) }
      for await (const event of (yield* openNative(held, parts, own, trusted)).turn(own)) {
        notifyOfAsks(event, held, parts, turn.signal)
        for (const text of parts.state.notes.splice(0)) yield { type: 'note', text }
        if (event.type === 'end') for (const text of await auditTrouble(parts)) yield { type: 'note', text }
        yield event
      }
    },
    async close() {},
  }
}
