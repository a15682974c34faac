import type { Agent, Traits } from '../../core/work/agent.ts'
import type { PipeSpec, Seat } from './command.ts'
import type { PipeParts } from './turn.ts'
import { looser } from '../../core/work/agent.ts'
import { seated } from '../seated.ts'
import { composer, dialectOf } from './command.ts'
import { takeTurn } from './turn.ts'

export type { PipeSpec } from './command.ts'
export type { PipeParts } from './turn.ts'

/** A command that reads a prompt from a pipe and answers on another: one process a turn. */
export function pipeAgent(spec: PipeSpec, seat: Seat, parts: PipeParts): Agent {
  const profile = composer(spec)
  const more = looser(seat.leash, profile?.leashes ?? {})
  const traits: Traits = {
    window: spec.window,
    memory: profile?.resumes ? 'own' : 'none',
    talks: profile?.leashes[seat.leash] !== undefined,
    steers: dialectOf(spec, seat.leash, undefined)?.steer !== undefined,
    ...(spec.profile ? { vendor: spec.profile.vendor, login: spec.profile.login } : {}),
    ...(more ? { looser: more } : {}),
  }
  return seated(spec.name, traits, seat, (turn, resume, emit) => takeTurn(spec, resume, parts, turn, emit))
}
