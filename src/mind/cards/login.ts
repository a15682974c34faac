import type { Failure } from '../../core/talk/outcome.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'

/** Whether the person has logged the agent in, so that it is tried again. */
export async function askLogin(turn: Turn, agent: Agent, failure: Failure, next: string | undefined): Promise<boolean> {
  const { login } = agent.traits
  const picks = await turn.ask(
    {
      about: 'login',
      text: `${agent.name} is not logged in: ${failure.message}`,
      from: [],
      agent: agent.name,
      ...(login === undefined ? {} : { shows: [{ type: 'command', command: login, cwd: turn.cwd }] }),
      options: [
        { id: 'again', label: 'I have logged in, try again' },
        { id: 'next', label: next === undefined ? 'Go on without it' : `Go on with ${next}` },
      ],
    },
    turn.signal,
  )
  return picks?.includes('again') ?? false
}
