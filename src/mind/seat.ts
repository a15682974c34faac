import type { Agent, Leash, Roster, Traits, Turn } from '../core/work/agent.ts'
import { wordsOf } from '../base/words.ts'
import { failed } from '../core/talk/outcome.ts'

/** Who learns what an agent is told; an unknown vendor is one of its own. */
export const vendorOf = (agent: Agent) => agent.traits.vendor ?? agent.name

/** A seat of a roster; an open that fails is a failed attempt like any other. */
export function seat(roster: Roster, name: string, turn: Turn, allowed?: Leash): Agent {
  try {
    return roster.open(name, { cwd: turn.cwd, leash: turn.leash, ...(allowed === undefined ? {} : { allowed }) })
  } catch (error) {
    const why = wordsOf(error)
    return {
      name,
      traits: { window: Infinity, memory: 'none', talks: false, steers: false },
      async *turn() {
        yield { type: 'end', outcome: failed('crash', `${name} could not be opened: ${why}`) }
      },
      async close() {},
    }
  }
}

/** What holds for whoever of a roster answers. */
export function traitsOf(roster: Roster): Traits {
  const members = roster.names().map((name) => roster.open(name, { cwd: '.', leash: 'read' }))
  for (const member of members) void member.close()
  const traits = members.map((member) => member.traits)
  const vendors = new Set(members.map(vendorOf))
  return {
    window: Math.min(...traits.map(({ window }) => window)),
    memory: 'none',
    talks: traits.every(({ talks }) => talks),
    steers: traits.every(({ steers }) => steers),
    ...(vendors.size === 1 ? { vendor: [...vendors][0]! } : {}),
  }
}
