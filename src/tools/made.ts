import type { Risk, Tool, ToolCall, ToolOutput } from '../core/work/tool.ts'
import type { Parser } from '../core/work/shape.ts'
import { sourceText } from '../base/source-text.ts'

/** A tool of ours: its words are in the file of its name, its schema and its parser come from one shape. */
export function made<I>(
  name: string,
  risk: Risk,
  { schema, parse }: Parser<I>,
  run: (input: I, call: ToolCall) => Promise<ToolOutput>,
): Tool {
  const tool: Tool<I> = { name, description: sourceText(`tools/${name}.md`).trim(), schema, risk, parse, run }
  return tool as Tool
}
