import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './desk.ts'
import { slot, workspace } from './desk.ts'
import { about, parser, string } from '../../core/work/shape.ts'
import { objectOf, slotSchema, stateSchema } from './shown.ts'

export function sendToAgent(desk: CrewDesk): Tool {
  const input = parser({ slot, text: about('What to tell it.', string()), workspace })
  return {
    name: 'send_to_agent',
    description:
      'Give an agent its next prompt. While it is busy or asks somebody, the prompt is queued and sent once, in order.',
    schema: input.schema,
    output: objectOf({ slot: slotSchema, state: stateSchema }),
    risk: 'run',
    parse: input.parse,
    async run(raw) {
      const wishes = raw as { slot: number; text: string; workspace?: string }
      const { id, state, queue } = await desk.crew(wishes.workspace).send(wishes.slot, wishes.text)
      const before = queue.length > 1 ? `, after ${queue.length - 1} before it` : ''
      return { text: `slot ${id}: ${state}${before}`, data: { slot: id, state } }
    },
  }
}
