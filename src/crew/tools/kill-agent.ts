import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './desk.ts'
import { slot, workspace } from './desk.ts'
import { parser } from '../../core/work/shape.ts'
import { endedWords } from '../slot.ts'
import { flagSchema, objectOf, slotSchema } from './shown.ts'

export function killAgent(desk: CrewDesk): Tool {
  const input = parser({ slot, workspace })
  return {
    name: 'kill_agent',
    description:
      'End an agent, its terminal and all that it started. Other slots keep their numbers; spawns held for it fail. Its artifact stays.',
    schema: input.schema,
    output: objectOf({ slot: slotSchema, killed: flagSchema }),
    risk: 'run',
    parse: input.parse,
    async run(raw) {
      const wishes = raw as { slot: number; workspace?: string }
      const crew = desk.crew(wishes.workspace)
      const killed = await crew.kill(wishes.slot)
      return { text: endedWords(await crew.slot(wishes.slot), killed), data: { slot: wishes.slot, killed } }
    },
  }
}
