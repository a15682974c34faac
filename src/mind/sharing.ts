import type { Entry } from '../core/talk/entry.ts'
import type { Agent, Roster, Turn } from '../core/work/agent.ts'
import { toldTo } from '../core/talk/view.ts'
import { seat, vendorOf } from './seat.ts'

/** The vendors that already know of a conversation: those of everyone who was told of it. */
export async function vendorsSeen(roster: Roster, told: readonly Entry[], turn: Turn): Promise<Set<string>> {
  const names = new Set(roster.names())
  const seen = new Set<string>()
  for (const name of toldTo(told)) {
    // One that left the roster cannot be asked: it stays a vendor of its own.
    if (!names.has(name)) {
      seen.add(name)
      continue
    }
    const agent = seat(roster, name, turn)
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
      about: 'sharing',
      text: `${who} has not seen this conversation yet. May it be given the conversation?`,
      from: [],
      agent: agent.name,
      options: [
        { id: 'yes', label: `Yes, share it with ${vendor}` },
        { id: 'no', label: 'No, pass it over' },
      ],
    },
    turn.signal,
  )
  return picks?.includes('yes') ?? false
}
