import type { Event } from '../../core/talk/entry.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { PipeSpec, Seat } from './command.ts'
import type { PipeParts } from './turn.ts'
import { Channel } from '../../base/channel.ts'
import { failed } from '../../core/talk/outcome.ts'
import { looser, tighter } from '../../core/work/agent.ts'
import { composer, dialectOf } from './command.ts'
import { takeTurn } from './turn.ts'

export type { PipeSpec } from './command.ts'
export type { PipeParts } from './turn.ts'

/** A command that reads a prompt from a pipe and answers on another: one process a turn. */
export function pipeAgent(spec: PipeSpec, seat: Seat, parts: PipeParts): Agent {
  const profile = composer(spec)
  const more = looser(seat.leash, profile?.leashes ?? {})
  const close = new AbortController()
  let resume = seat.resume
  let work: Promise<void> = Promise.resolve()
  return {
    name: spec.name,
    traits: {
      window: spec.window,
      memory: profile?.resumes ? 'own' : 'none',
      talks: profile?.leashes[seat.leash] !== undefined,
      steers: dialectOf(spec, undefined)?.steer !== undefined,
      ...(spec.profile ? { vendor: spec.profile.vendor, login: spec.profile.login } : {}),
      ...(more ? { looser: more } : {}),
    },
    async *turn(turn) {
      const leave = new AbortController()
      const out = new Channel<Event>(64)
      const signal = AbortSignal.any([turn.signal, leave.signal, close.signal])
      const key = resume
      resume = undefined
      const leash = tighter(seat.leash, turn.leash)
      work = takeTurn(spec, key, parts, { ...turn, leash, signal }, (event) => out.push(event))
        .catch((error) => out.push({ type: 'end', outcome: failed('crash', `${spec.name} broke: ${String(error)}`) }))
        .finally(() => out.close())
      try {
        yield* out
      } finally {
        leave.abort()
        await work
      }
    },
    async close() {
      close.abort()
      await work
    },
  }
}
