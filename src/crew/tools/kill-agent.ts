import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './crew-desk.ts'
import { parser } from '../../core/data/shape.ts'
import { killedWords } from '../slot.ts'
import { crewTool, refuseBeyond, slot, workspace } from './crew-desk.ts'
import { flagSchema, objectOf, slotSchema } from './slot-view.ts'

export function killAgent(desk: CrewDesk): Tool {
  const input = parser({ slot, workspace })
  return crewTool({
    name: 'kill_agent',
    description:
      'Stop an agent, its terminal and every process it started. Other slots keep their numbers; agents that wait for this one fail. Its artifact stays.',
    schema: input.schema,
    output: objectOf({ slot: slotSchema, killed: flagSchema }),
    risk: 'run',
    parse: input.parse,
    async run(wishes) {
      const crew = desk.crew(wishes.workspace)
      refuseBeyond(desk, await crew.slot(wishes.slot), 'stop')
      const killed = await crew.kill(wishes.slot)
      return { text: killedWords(await crew.slot(wishes.slot), killed), data: { slot: wishes.slot, killed } }
    },
  })
}
