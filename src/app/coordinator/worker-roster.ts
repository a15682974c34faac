import type { Agent, Roster, RosterSeat } from '../../core/work/agent.ts'
import type { App } from '../app.ts'
import type { Terminals } from '../crew/crew-terminals.ts'
import type { NativeParts } from '../native/native-parts.ts'
import { rosterParts } from '../app.ts'
import { crewRoster, spawnable } from '../crew/crew-roster.ts'
import { closeNative, leaveSession, newNativeState } from '../native/native-parts.ts'
import { ownRecord } from '../recorded-answers.ts'
import { openRoster } from '../roster.ts'
import { enabledAgents } from '../../settings/enabled-agents.ts'

/**
 * Opens the workers of a coordinator: unseen ones as the rotation opens its agents, each with tools of its own, and those in a
 * terminal as a crew does.
 */
export function workerRoster(app: App, terminals: Terminals): Roster {
  const { io, settings, place, store, border } = app
  const names = [...new Set([...enabledAgents(settings), ...spawnable(settings, io)].map(({ name }) => name))]
  const record = ownRecord({ store, clock: io.clock, border, project: place.root })
  const visible = crewRoster(io, settings, terminals, { record })
  return {
    names: () => names,
    open: (name, seat) => (seat.terminal ? visible.open(name, seat) : unseen(app, name, seat)),
  }
}

/** Our own agent's tools remember what they have read, so that each worker has its own. */
function unseen(app: App, name: string, seat: RosterSeat): Agent {
  const native = nativeIn(app, seat.cwd)
  const agent = openRoster({ ...app.settings, metaInstruction: undefined }, rosterParts({ ...app, native })).open(
    name,
    seat,
  )
  return {
    name: agent.name,
    get traits() {
      return agent.traits
    },
    turn: (turn) => agent.turn(turn),
    async close() {
      await agent.close()
      if (native.state.session !== app.native.state.session) await leaveSession(native, 'other').catch(() => [])
      await closeNative(native).catch(() => {})
    },
  }
}

function nativeIn({ native }: App, cwd: string): NativeParts {
  const { session, trustGiven, told } = native.state
  return { ...native, cwd, state: { ...newNativeState(), told, session, trustGiven } }
}
