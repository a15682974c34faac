import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './crew-desk.ts'
import { parser } from '../../core/data/shape.ts'
import { nameOf, stateWords } from '../slot.ts'
import { crewTool, workspace } from './crew-desk.ts'
import { objectOf, slotView, slotViewSchema } from './slot-view.ts'

export function listAgents(desk: CrewDesk): Tool {
  const input = parser({ workspace })
  return crewTool({
    name: 'list_agents',
    description:
      'List all agents of the crew: slot, state and the reason for it, task, since when, and what the agent waits for or asks.',
    schema: input.schema,
    output: objectOf({ agents: { type: 'array', items: slotViewSchema } }),
    risk: 'read',
    parse: input.parse,
    async run({ workspace: name }) {
      const slots = await desk.crew(name).slots()
      const agents = slots.map((slot) => slotView(slot, desk.clock.now()))
      const lines = slots.map((slot) => {
        const task = slot.task.split('\n')[0]
        return `${nameOf(slot.id)}: ${slot.agent}, ${stateWords(slot)}${task ? `: ${task}` : ''}`
      })
      return { text: lines.join('\n') || 'There are no agents.', data: { agents } }
    },
  })
}
