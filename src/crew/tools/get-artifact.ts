import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './desk.ts'
import { slot, workspace } from './desk.ts'
import { parser } from '../../core/work/shape.ts'
import { flagSchema, objectOf, slotSchema, textSchema } from './shown.ts'

const output = objectOf({ slot: slotSchema, output: textSchema, truncated: flagSchema, fenced: flagSchema })

export function getArtifact(desk: CrewDesk): Tool {
  const input = parser({ slot, workspace })
  return {
    name: 'get_artifact',
    description:
      "An agent's last answer, whole up to 1 MB (truncated tells of a cut). fenced: the agent marked it as its answer; else it is the text since the prompt.",
    schema: input.schema,
    output,
    risk: 'read',
    parse: input.parse,
    async run(raw) {
      const wishes = raw as { slot: number; workspace?: string }
      const artifact = await desk.crew(wishes.workspace).artifact(wishes.slot)
      return { text: artifact.output, data: { slot: wishes.slot, ...artifact } }
    },
  }
}
