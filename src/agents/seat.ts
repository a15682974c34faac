import type { Event } from '../core/talk/entry.ts'
import type { Agent, Leash, Traits, Turn } from '../core/work/agent.ts'
import { Channel } from '../base/channel.ts'
import { failed } from '../core/talk/outcome.ts'
import { tighter } from '../core/work/agent.ts'

/** Takes one turn and tells of it; its end is the last thing it says. `resume` is a thread that was handed in. */
export type TakeTurn = (turn: Turn, resume: string | undefined, emit: (event: Event) => Promise<void>) => Promise<void>

/** A seat whose turns are taken by a function: held to its leash, left or closed at any moment, and never throwing. */
export function seatedAgent(
  name: string,
  traits: Traits,
  seat: { leash: Leash; resume?: string | undefined },
  take: TakeTurn,
): Agent {
  const close = new AbortController()
  let { resume } = seat
  let work: Promise<void> = Promise.resolve()
  return {
    name,
    traits,
    async *turn(turn) {
      const leave = new AbortController()
      const out = new Channel<Event>(64)
      const signal = AbortSignal.any([turn.signal, leave.signal, close.signal])
      const key = resume
      resume = undefined
      const leash = tighter(seat.leash, turn.leash)
      work = take({ ...turn, leash, signal }, key, (event) => out.push(event))
        .catch((error) => out.push({ type: 'end', outcome: failed('crash', `${name} broke: ${String(error)}`) }))
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
