import type { Agent, Leash, Turn } from '../core/work/agent.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { withoutPart } from '../core/talk/transcript.ts'
import { looser } from '../core/work/agent.ts'
import { vendorOf, withModel } from '../settings/agent-settings.ts'
import { noteOnce } from './native-parts.ts'
import { scratchRooms } from './native-scratch.ts'

/** The meaning of each leash for our own agent. */
export const nativeLeashes: Record<Leash, string> = {
  read: 'reads and searches the project; its commands can write nothing',
  ask: 'asks before it acts, and waits for your answer',
  edit: 'edits files in the project without asking; runs commands in the sandbox, and asks before one runs outside',
  all: 'does everything without asking, outside the sandbox',
}

/** Gives a seat the model that the turn's slash command names. */
async function withTerms(seat: NativeSeat, { terms }: Turn, parts: NativeParts): Promise<NativeSeat> {
  if (terms?.model === undefined) return seat
  const { fileModel } = await import('./native-model.ts')
  const found = fileModel(terms.model, terms.from, seat)
  if ('model' in found) return { ...seat, agent: withModel(seat.agent, found) }
  noteOnce(parts, `/${terms.command} names the model ${terms.model}, which is not used, because ${found.why}.`)
  return seat
}

/** Opens our own agent for the roster; its code is loaded when its turn begins. */
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
      vendor,
      looser: more,
    },
    async *turn(turn) {
      const [{ openNative }, { checkTrust }, { auditTrouble }, { notifying, notifyOfEvent }] = await Promise.all([
        import('./native-agent.ts'),
        import('./native-trust.ts'),
        import('./native-audit.ts'),
        import('./native-hooks.ts'),
      ])
      const { seat: judged, trusted } = yield* checkTrust(turn, seat, parts)
      const own = await withTerms(judged, turn, parts)
      // The system prompt of our own agent already describes the machine.
      const prompt = withoutPart(turn.prompt, turn.machine)
      const held = { ...turn, prompt, leash: own.leash, ask: notifying(turn.ask, own, parts) }
      const rooms = scratchRooms(agent.name, parts)
      rooms.begin()
      try {
        for await (const event of (yield* openNative(own, parts, held, trusted)).turn(held)) {
          notifyOfEvent(event, own, parts, turn.signal)
          // The hooks that give the model information about a session run again after a summary.
          if (event.type === 'summary' && parts.state.session.begun) parts.state.session.begun.compacted = true
          for (const text of parts.state.notes.waiting.splice(0)) yield { type: 'note', text }
          if (event.type === 'end') for (const text of await auditTrouble(parts)) yield { type: 'note', text }
          yield event
        }
      } finally {
        await rooms.end(parts.state.tools.toolboxes.get(agent.name)?.box.busy() ?? false)
      }
    },
    async close() {},
  }
}
