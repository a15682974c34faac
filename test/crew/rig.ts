import type { TestContext } from 'node:test'
import type { Terminal } from '../../src/core/screen/terminal.ts'
import type { Store } from '../../src/core/talk/store.ts'
import type { Agent, RosterSeat } from '../../src/core/work/agent.ts'
import type { KeeperParts } from '../../src/crew/parts.ts'
import { HandClock } from '../../src/base/hand-clock.ts'
import { Crew } from '../../src/crew/crew.ts'
import { Keeper } from '../../src/crew/keeper.ts'
import { memoryStore } from '../../src/store/memory.ts'

export type Seats = Record<string, (seat: RosterSeat) => Agent>

export type Rig = Partial<KeeperParts> & { store?: Store; clock?: HandClock }

/** A crew and its keeper in one process, on a clock that is turned by hand. */
export function crewOf(context: TestContext, seats: Seats, part: Rig = {}) {
  const store = part.store ?? memoryStore()
  const clock = part.clock ?? new HandClock(0)
  const parts: KeeperParts = {
    workspace: 'w',
    owner: 'me',
    alive: () => true,
    carries: true,
    names: () => Object.keys(seats),
    find: async (): Promise<Terminal | undefined> => undefined,
    limits: { perWorkspace: 10, total: 20 },
    elsewhere: async () => 0,
    outlives: true,
    roster: { names: () => Object.keys(seats), open: (name, seat) => seats[name]!(seat) },
    ...part,
    store,
    clock,
  }
  const keeper = new Keeper(parts)
  context.after(() => keeper.leave())
  return { crew: new Crew(parts), keeper, store, clock, parts }
}
