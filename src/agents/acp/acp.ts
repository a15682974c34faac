import type { Agent } from '../../core/work/agent.ts'
import type { Seat } from '../pipe/command.ts'
import type { AcpSpec } from './command.ts'
import type { AcpParts } from './turn.ts'
import { looser } from '../../core/work/agent.ts'
import { seated } from '../seated.ts'
import { factsOf } from './command.ts'
import { takeTurn } from './turn.ts'

export type { AcpSpec } from './command.ts'
export type { AcpParts } from './turn.ts'

/** A command that speaks the Agent Client Protocol on its pipes: it can ask, and is held by our answers. One process a turn. */
export function acpAgent(spec: AcpSpec, seat: Seat, parts: AcpParts): Agent {
  const facts = factsOf(spec)
  const more = looser(seat.leash, facts?.leashes ?? {})
  const traits = {
    window: spec.window,
    memory: 'own' as const,
    talks: facts?.leashes[seat.leash] !== undefined,
    steers: facts?.steering !== undefined,
    ...(spec.profile ? { vendor: spec.profile.vendor, login: spec.profile.login } : {}),
    ...(more ? { looser: more } : {}),
  }
  return seated(spec.name, traits, seat, (turn, resume, emit) => takeTurn(spec, resume, parts, turn, emit))
}
