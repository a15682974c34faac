import type { Parser } from '../../../core/data/shape.ts'
import type { Risk, Tool, ToolCall } from '../../../core/work/tool.ts'
import type { Right } from '../../model/access/rights.ts'
import { about, number, optional, string } from '../../../core/data/shape.ts'

/** A tool of the hub, and its operation in the table of roles. */
export type HubTool = Tool & { operation: Right }

/** A tool whose result is one object, which is shown as JSON and handed over as data. */
export function hubTool<I>(
  name: string,
  operation: Right,
  risk: Risk,
  description: string,
  input: Parser<I>,
  run: (input: I, call: ToolCall) => Promise<object>,
): HubTool {
  return {
    name,
    operation,
    description,
    schema: input.schema,
    risk,
    parse: input.parse,
    async run(read, call) {
      const data = await run(read as I, call)
      return { text: JSON.stringify(data), data }
    },
  }
}

/** A text or an id that must not be empty. */
export const text = string({ min: 1 })

/** How long a tool waits for something at most. */
export const timeout = optional(about('Seconds to wait at most. Default 290.', number(0)))
