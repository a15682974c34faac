import type { Agent, Leash, RosterSeat } from '../core/work/agent.ts'
import type { Io } from '../core/io.ts'
import type { Settings } from '../settings/settings.ts'
import type { CliAgentSettings } from '../settings/agent-settings.ts'
import { looser } from '../core/work/agent.ts'
import { profileOf, vendorOf } from '../settings/agent-settings.ts'

export type ScreenSeat = { agent: CliAgentSettings; settings: Settings; leash: Leash; window: number; seat: RosterSeat }

/** A seat of a CLI in a terminal, for a turn of the conversation: opened for the turn on its own thread, and closed after it. */
export function screenSeat({ agent, settings, leash, window, seat }: ScreenSeat, io: Io): Agent {
  const facts = agent.command === undefined ? profileOf(agent)?.screen : undefined
  const more = looser(leash, facts?.leashes ?? {})
  const vendor = vendorOf(agent)
  return {
    name: agent.name,
    traits: {
      window,
      memory: 'own',
      talks: facts !== undefined,
      steers: false,
      ...(vendor === undefined ? {} : { vendor }),
      ...(more ? { looser: more } : {}),
    },
    async *turn(turn) {
      const [{ crewRoster }, { terminalsOf }] = await Promise.all([
        import('./crew/roster.ts'),
        import('./crew/terminals.ts'),
      ])
      const terminals = terminalsOf(io, settings, { lends: false })
      const terminal = { id: crypto.randomUUID(), title: agent.name }
      const own = crewRoster(io, settings, terminals).open(agent.name, { ...seat, leash, allowed: leash, terminal })
      try {
        yield* own.turn(turn)
      } finally {
        await own.close()
        await terminals.close()
      }
    },
    async close() {},
  }
}
