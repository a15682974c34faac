import type { Parser } from '../../../core/data/shape.ts'
import type { Risk, Tool, ToolCall } from '../../../core/work/tool.ts'
import type { Right } from '../../model/access/rights.ts'
import type { OperationName } from '../../model/operations/operations.ts'
import { about, number, optional } from '../../../core/data/shape.ts'
import { operations } from '../../model/operations/operations.ts'

/** A tool of the hub, and the right that it needs. */
export type HubTool = Tool & { right: Right }

/**
 * A tool that does an operation of the hub over MCP, with names of fields of its own, and needs the same right. Its result is one object,
 * which is shown as JSON and handed over as data.
 */
export function hubTool<I>(
  name: string,
  operation: OperationName,
  risk: Risk,
  description: string,
  input: Parser<I>,
  run: (input: I, call: ToolCall) => Promise<object>,
): HubTool {
  return {
    name,
    right: operations[operation].right,
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

/** How long a tool waits for something at most. */
export const timeout = optional(about('Seconds to wait at most. Default 290.', number(0)))
