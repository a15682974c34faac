import type { Agent, Roster, Turn } from '../core/work/agent.ts'

export const vendorOf = (agent: Agent) => agent.traits.vendor ?? agent.name

/** The vendors that already know of a conversation: those of everyone who signed anything in it. */
export async function vendorsSeen(roster: Roster, turn: Turn): Promise<Set<string>> {
  const names = new Set(roster.names())
  const speakers = new Set(turn.history.map((entry) => entry.by).filter((by) => names.has(by)))
  const seen = new Set<string>()
  for (const name of speakers) {
    const agent = roster.open(name, turn)
    seen.add(vendorOf(agent))
    await agent.close()
  }
  return seen
}

/** Whether the person wants another vendor to be given the conversation. */
export async function maySee(agent: Agent, turn: Turn): Promise<boolean> {
  const vendor = vendorOf(agent)
  const who = vendor === agent.name ? agent.name : `${agent.name} (${vendor})`
  const picks = await turn.ask(
    {
      about: 'choice',
      text: `${who} has not seen this conversation yet. May it be given the conversation?`,
      from: [],
      options: [
        { id: 'yes', label: `Yes, share it with ${vendor}` },
        { id: 'no', label: 'No, pass it over' },
      ],
    },
    turn.signal,
  )
  return picks?.includes('yes') ?? false
}
