import type { Tool } from '../../core/work/tool.ts'
import type { CrewDesk } from './desk.ts'
import { deadline, seconds, slot, workspace } from './desk.ts'
import { about, boolean, integer, optional, parser, string } from '../../core/work/shape.ts'
import { flagSchema, objectOf, slotSchema, stateSchema, textSchema } from './shown.ts'

const input = parser({
  slot,
  lines: optional(about('The last so many lines of its terminal. Default 50.', integer(1, 10_000))),
  clean: optional(about('Without borders, fence marks and empty space.', boolean())),
  since_last: optional(about('Only what is new since the last read.', boolean())),
  pattern: optional(about('JavaScript regular expression: waits until the output matches.', string())),
  timeout: optional(about('Seconds to wait for the pattern. Default 30.', seconds)),
  workspace,
})

const output = objectOf({ slot: slotSchema, output: textSchema, state: stateSchema, matched: flagSchema }, [
  'slot',
  'output',
  'state',
])

export function readFromAgent(desk: CrewDesk): Tool {
  return {
    name: 'read_from_agent',
    description:
      "What an agent's terminal shows, with what scrolled off. For its final answer use get_artifact. With a pattern it waits until the output matches.",
    schema: input.schema,
    output,
    risk: 'read',
    parse: input.parse,
    async run(raw, { until, signal }) {
      const wishes = raw as ReturnType<typeof input.parse>
      const id = wishes.slot!
      const read = await desk.crew(wishes.workspace).read(id, {
        lines: wishes.lines ?? 50,
        ...(wishes.clean ? { clean: true } : {}),
        ...(wishes.since_last ? { sinceLast: true } : {}),
        ...(wishes.pattern === undefined ? {} : { pattern: wishes.pattern }),
        until: deadline(desk.clock, wishes.timeout ?? 30, until).at,
        signal,
      })
      const missed = read.matched === false ? `\n[the pattern did not match in time]` : ''
      return { text: `slot ${id} ${read.state}\n${read.output}${missed}`, data: { slot: id, ...read } }
    },
  }
}
