import type { Entry } from '../../core/talk/entry.ts'
import type { Agent, Leash, Roster, Traits, Turn } from '../../core/work/agent.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { agentsThatSaw } from '../../core/talk/view.ts'

/** Opens an agent of the roster for one attempt; if opening fails, the attempt fails like any other. */
export function openSeat(
  roster: Roster,
  name: string,
  { cwd, leash }: Pick<Turn, 'cwd' | 'leash'>,
  allowed?: Leash,
): Agent {
  try {
    return roster.open(name, defined({ cwd, leash, allowed }))
  } catch (error) {
    const why = messageOf(error)
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

/** The company that receives the prompts of an agent. If the company is unknown, the agent counts as a vendor of its own. */
export const vendorOf = (agent: Agent) => agent.traits.vendor ?? agent.name

/** The vendors that know a conversation already, because one of their agents saw it. */
export async function vendorsTold(
  roster: Roster,
  told: readonly Entry[],
  turn: Pick<Turn, 'cwd' | 'leash'>,
): Promise<Set<string>> {
  const names = new Set(roster.names())
  const vendors = new Set<string>()
  for (const name of agentsThatSaw(told)) {
    // The vendor of an agent that left the roster is unknown, so the agent counts as a vendor of its own.
    if (!names.has(name)) {
      vendors.add(name)
      continue
    }
    const agent = openSeat(roster, name, turn)
    vendors.add(vendorOf(agent))
    await agent.close()
  }
  return vendors
}

/** The traits that all agents of a roster share. */
export function sharedTraits(roster: Roster): Traits {
  const members = roster.names().map((name) => roster.open(name, { cwd: '.', leash: 'read' }))
  // Opening is lazy: nothing was started, so there is no end to wait for.
  for (const member of members) void member.close()
  const traits = members.map((member) => member.traits)
  const vendors = [...new Set(members.map(vendorOf))]
  return defined({
    window: Math.min(...traits.map(({ window }) => window)),
    memory: 'none' as const,
    talks: traits.every(({ talks }) => talks),
    steers: traits.every(({ steers }) => steers),
    vendor: vendors.length === 1 ? vendors[0] : undefined,
  })
}
