import type { Parser } from '../../core/work/shape.ts'
import type { Risk, Tool, ToolCall } from '../../core/work/tool.ts'

/** A tool of the hub: what it gives is one object, shown as JSON and handed over as data. */
export function hubTool<I>(
  name: string,
  risk: Risk,
  description: string,
  input: Parser<I>,
  run: (input: I, call: ToolCall) => Promise<object>,
): Tool {
  return {
    name,
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
