import type { Tool, ToolCall, ToolOutput } from '../core/work/tool.ts'
import type { JsonSchema, Parser } from '../core/work/shape.ts'
import { defined } from '../base/defined.ts'
import { sourceText } from '../base/source-text.ts'

/** A tool as its own file defines it. The description comes from the `.md` of its name, the schema and the parser from `input`. */
type ToolDefinition<I> = Omit<Tool<I>, 'description' | 'schema' | 'parse'> & {
  input: Parser<I>
  run(input: I, call: ToolCall): Promise<ToolOutput>
}

export function defineTool<I>({ input: { schema, parse }, ...own }: ToolDefinition<I>): Tool {
  const { description, notes, inputs } = partsOf(sourceText(`tools/${own.name}.md`))
  const tool: Tool<I> = defined({ ...own, description, notes, schema: withDescriptions(schema, inputs), parse })
  return tool
}

/**
 * Splits the text about a tool into its description, its `Notes:`, which no request has, and the lines of its `Inputs:` section,
 * which go to the parameters of the schema: a model then reads each of them once, where it needs it. `edits.old_string` is a
 * field of the items of `edits`.
 */
function partsOf(text: string): { description: string; notes?: string; inputs: Map<string, string> } {
  const inputs = new Map<string, string>()
  let notes: string | undefined
  const lines = text.trim().split('\n')
  const rest = lines.filter((line) => {
    const [, name, words] = /^- ([\w.]+): (.*)$/.exec(line) ?? []
    if (name !== undefined) inputs.set(name, words!)
    const [, note] = /^Notes: (.*)$/.exec(line) ?? []
    notes ??= note
    return name === undefined && note === undefined && line !== 'Inputs:'
  })
  return { description: rest.join('\n'), notes, inputs }
}

function withDescriptions(schema: JsonSchema, inputs: ReadonlyMap<string, string>, at = ''): JsonSchema {
  const { properties, items } = schema as { properties?: Record<string, JsonSchema>; items?: JsonSchema }
  const inner = ([name, field]: [string, JsonSchema]) => {
    const place = at === '' ? name : `${at}.${name}`
    const words = inputs.get(place)
    const described = withDescriptions(field, inputs, place)
    return [name, words === undefined ? described : { ...described, description: words }]
  }
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(inner)) }),
    ...(items && { items: withDescriptions(items, inputs, at) }),
  }
}
