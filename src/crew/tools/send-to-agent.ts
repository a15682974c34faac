import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './crew-desk.ts'
import { plainPrompt } from '../../core/talk/plain-prompt.ts'
import { about, parser, string } from '../../core/data/shape.ts'
import { crewTool, refuseBeyond, slot, workspace } from './crew-desk.ts'
import { objectOf, slotSchema, stateSchema } from './slot-view.ts'

export function sendToAgent(desk: CrewDesk): Tool {
  const input = parser({ slot, text: about('The prompt.', string()), workspace })
  return crewTool({
    name: 'send_to_agent',
    description:
      'Send an agent its next prompt. While the agent is busy or asks a question, the prompt is queued; each prompt is sent once, in order.',
    schema: input.schema,
    output: objectOf({ slot: slotSchema, state: stateSchema }),
    risk: 'run',
    parse: input.parse,
    async run(wishes) {
      const crew = desk.crew(wishes.workspace)
      refuseBeyond(desk, await crew.slot(wishes.slot), 'prompt')
      const { id, state, queue } = await crew.send(wishes.slot, desk.person ? wishes.text : plainPrompt(wishes.text))
      const before = queue.length > 1 ? `, ${queue.length - 1} prompts go first` : ''
      return { text: `slot ${id}: ${state}${before}`, data: { slot: id, state } }
    },
  })
}
