import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './desk.ts'
import { workspace } from './desk.ts'
import { parser } from '../../core/work/shape.ts'
import { agentOf, agentSchema, objectOf } from './shown.ts'

export function listAgents(desk: CrewDesk): Tool {
  const input = parser({ workspace })
  return {
    name: 'list_agents',
    description: 'Every agent of the crew: slot, state and why, task, since when, what it waits for or asks.',
    schema: input.schema,
    output: objectOf({ agents: { type: 'array', items: agentSchema } }),
    risk: 'read',
    parse: input.parse,
    async run(raw) {
      const { workspace: name } = raw as { workspace?: string }
      const agents = (await desk.crew(name).slots()).map((slot) => agentOf(slot, desk.clock.now()))
      const lines = agents.map(
        ({ slot, agent_type, state, why, task }) =>
          `slot ${slot} ${agent_type} ${state}${why === undefined ? '' : ` (${why})`}: ${task.split('\n')[0]}`,
      )
      return { text: lines.join('\n') || 'There are no agents.', data: { agents } }
    },
  }
}
