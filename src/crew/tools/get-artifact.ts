import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './crew-desk.ts'
import { parser } from '../../core/work/shape.ts'
import { crewTool, slot, workspace } from './crew-desk.ts'
import { flagSchema, objectOf, slotSchema, textSchema } from './slot-view.ts'

const output = objectOf({ slot: slotSchema, output: textSchema, truncated: flagSchema, fenced: flagSchema })

export function getArtifact(desk: CrewDesk): Tool {
  const input = parser({ slot, workspace })
  return crewTool({
    name: 'get_artifact',
    description:
      "Get an agent's last answer, up to 1 MB; truncated is true when it was cut. fenced is true when the agent marked the text as its answer; otherwise it is everything since the prompt.",
    schema: input.schema,
    output,
    risk: 'read',
    parse: input.parse,
    async run(wishes) {
      const artifact = await desk.crew(wishes.workspace).artifact(wishes.slot)
      return { text: artifact.output, data: { slot: wishes.slot, ...artifact } }
    },
  })
}
