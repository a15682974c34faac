import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Looser, Turn } from '../../core/work/agent.ts'

/** What an agent was not allowed to do, in its own words; empty when it was free to do all it wanted. */
export function denialsOf(outcome: Outcome): readonly string[] {
  if (outcome.ok) return outcome.denials ?? []
  return outcome.failure.kind === 'denied' ? [outcome.failure.message] : []
}

/** The looser leash that the person gives the agent for this turn; undefined when things are left as they are. */
export async function askAllow(turn: Turn, agent: Agent, denials: readonly string[]): Promise<Looser | undefined> {
  const { looser } = agent.traits
  if (!looser) return undefined
  const picks = await turn.ask(
    {
      about: 'denied',
      text: `${agent.name} was not allowed to do all that it wanted.`,
      from: [],
      agent: agent.name,
      shows: denials.map((text) => ({ type: 'text', text })),
      options: [
        {
          id: 'allow',
          label: 'Allow it for this turn and try again',
          grants: `leash ${looser.leash}: ${looser.means}`,
        },
        { id: 'leave', label: 'Leave it' },
      ],
    },
    turn.signal,
  )
  return picks?.includes('allow') ? looser : undefined
}
