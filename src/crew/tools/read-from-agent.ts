import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './crew-desk.ts'
import { about, boolean, integer, optional, parser, string } from '../../core/data/shape.ts'
import { crewTool, deadline, seconds, slot, workspace } from './crew-desk.ts'
import { flagSchema, objectOf, slotSchema, stateSchema, textSchema } from './slot-view.ts'

const input = parser({
  slot,
  lines: optional(about('How many of the last lines of the terminal to return. Default 50.', integer(1, 10_000))),
  clean: optional(about('Leave out borders, fence marks and repeated empty lines.', boolean())),
  since_last: optional(about('Return only lines that are new since the last read.', boolean())),
  pattern: optional(about('A JavaScript regular expression: wait until the output matches it.', string())),
  timeout: optional(about('Seconds to wait for the pattern. Default 30.', seconds)),
  workspace,
})

const output = objectOf({ slot: slotSchema, output: textSchema, state: stateSchema, matched: flagSchema }, [
  'slot',
  'output',
  'state',
])

export function readFromAgent(desk: CrewDesk): Tool {
  return crewTool({
    name: 'read_from_agent',
    description:
      "Read an agent's terminal, including lines that have scrolled off. For the agent's final answer use get_artifact. With a pattern, wait until the output matches.",
    schema: input.schema,
    output,
    risk: 'read',
    parse: input.parse,
    async run(wishes, { until, signal }) {
      const id = wishes.slot
      const read = await desk.crew(wishes.workspace).read(id, {
        lines: wishes.lines ?? 50,
        clean: wishes.clean,
        sinceLast: wishes.since_last,
        pattern: wishes.pattern,
        until: deadline(desk.clock, wishes.timeout ?? 30, until).at,
        signal,
      })
      const missed = read.matched === false ? `\n[the pattern did not match in time]` : ''
      return { text: `slot ${id} ${read.state}\n${read.output}${missed}`, data: { slot: id, ...read } }
    },
  })
}
