import type { Agent, Roster, RosterSeat } from '../../core/work/agent.ts'
import type { App } from '../../turn/app.ts'
import type { Terminals } from '../../crew/machine/crew-terminals.ts'
import { crewRoster, spawnable } from '../../crew/machine/crew-roster.ts'
import { ownRecord } from '../../native/recorded-answers.ts'
import { rosterIn } from '../../turn/copies/folder-roster.ts'
import { enabledAgents } from '../../settings/enabled-agents.ts'

/**
 * Opens the workers of a coordinator: background workers as the rotation opens its agents, each with its own tools, and those in a
 * terminal as a crew does.
 */
export function workerRoster(app: App, terminals: Terminals): Roster {
  const { io, settings, place, store, border } = app
  const names = [...new Set([...enabledAgents(settings), ...spawnable(settings, io)].map(({ name }) => name))]
  const record = ownRecord({ store, clock: io.clock, border, project: place.root })
  const visible = crewRoster(io, settings, terminals, { record, counted: !app.ephemeral })
  return {
    names: () => names,
    open: (name, seat) => (seat.terminal ? visible.open(name, seat) : unseen(app, name, seat)),
  }
}

/** Each worker has its own roster, because our own agent's tools remember the files that they have read. */
function unseen(app: App, name: string, seat: RosterSeat): Agent {
  const { root = app.place.root, cwd } = seat
  const roster = rosterIn(app, { root, cwd }, { ...app.settings, metaInstruction: undefined })
  const agent = roster.open(name, seat)
  return {
    name: agent.name,
    get traits() {
      return agent.traits
    },
    turn: (turn) => agent.turn(turn),
    async close() {
      await agent.close()
      await roster.close()
    },
  }
}
