import type { Parser } from '../../../core/data/shape.ts'
import type { Risk, Tool, ToolCall } from '../../../core/work/tool.ts'
import type { Right } from '../../model/access/rights.ts'
import type { OperationName } from '../../model/operations/operations.ts'
import { about, number, optional } from '../../../core/data/shape.ts'
import { operations } from '../../model/operations/operations.ts'

/** A tool of the hub, and the right that it needs. */
export type HubTool = Tool & { right: Right }

/**
 * A tool that performs an operation of the hub over MCP under its own field names, and needs the same right. Its result is one object,
 * shown to the model as JSON and also returned as structured data.
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

/** The longest time that a tool waits. */
export const timeout = optional(about('Seconds to wait at most. Default 290.', number(0)))
