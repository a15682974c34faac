import type { Tool, ToolCall, ToolOutput } from '../core/work/tool.ts'
import type { Parser } from '../core/work/shape.ts'
import { sourceText } from '../base/source-text.ts'

/** A tool of ours without what comes from elsewhere: its description is the `.md` of its name, its schema and parser are its input's. */
export type ToolDefinition<I> = Omit<Tool<I>, 'description' | 'schema' | 'parse'> & {
  input: Parser<I>
  run(input: I, call: ToolCall): Promise<ToolOutput>
}

export function defineTool<I>({ input: { schema, parse }, ...own }: ToolDefinition<I>): Tool {
  const tool: Tool<I> = { ...own, description: sourceText(`tools/${own.name}.md`).trim(), schema, parse }
  return tool
}
