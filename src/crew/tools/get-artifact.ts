import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './crew-desk.ts'
import { parser } from '../../core/data/shape.ts'
import { artifactText } from '../artifact.ts'
import { crewTool, slot, workspace } from './crew-desk.ts'
import { flagSchema, objectOf, slotSchema, stateSchema, textSchema } from './slot-view.ts'

const answer = { output: textSchema, truncated: flagSchema, fenced: flagSchema }

const output = objectOf(
  { slot: slotSchema, ...answer, state: stateSchema, why: textSchema, earlier: objectOf(answer) },
  ['slot', ...Object.keys(answer)],
)

export function getArtifact(desk: CrewDesk): Tool {
  const input = parser({ slot, workspace })
  return crewTool({
    name: 'get_artifact',
    description:
      "Get an agent's answer to its last prompt, up to 1 MB; truncated is true when it was cut. fenced is true when the agent marked the text as its answer; otherwise it was scraped from the screen and is everything since the prompt, and the text says so first. Without an answer to the last prompt, because the agent is still at work or failed, output is empty, state and why say so, and earlier is its last answer to a prompt before.",
    schema: input.schema,
    output,
    risk: 'read',
    parse: input.parse,
    async run(wishes) {
      const artifact = await desk.crew(wishes.workspace).artifact(wishes.slot)
      return { text: artifactText(wishes.slot, artifact), data: { slot: wishes.slot, ...artifact } }
    },
  })
}
