import type { Tool, ToolCall, ToolOutput } from '../../../core/work/tool.ts'
import type { JsonSchema, Parser } from '../../../core/data/shape.ts'
import { defined } from '../../../base/defined.ts'
import { sourceText } from '../../../base/source-text.ts'

/**
 * A tool as its own file defines it. The description comes from the `.md` file of the same name, the schema and the parser from `input`.
 */
type ToolDefinition<I> = Omit<Tool<I>, 'description' | 'schema' | 'parse'> & {
  input: Parser<I>
  run(input: I, call: ToolCall): Promise<ToolOutput>
}

export function defineTool<I>({ input: { schema, parse }, ...own }: ToolDefinition<I>): Tool {
  const { description, notes, inputs, obvious } = partsOf(sourceText(`native/tools/${own.name}.md`))
  const whole = withDescriptions(schema, new Map([...inputs, ...obvious]))
  // The parser refuses unknown fields, whatever the schema in a request says about them.
  const brief = withDescriptions(schema, inputs, ({ additionalProperties: _, ...open }) => open)
  const tool: Tool<I> = defined({ ...own, description, notes, schema: whole, brief, parse })
  return tool
}

type ToolTextParts = { description: string; notes?: string; inputs: Map<string, string>; obvious: Map<string, string> }

/**
 * Splits the text about a tool into its description, its `Notes:`, which no request contains, and the lines of its `Inputs:` section,
 * which become descriptions of the schema's parameters: a model then reads each of them once, next to the parameter. `edits.old_string`
 * is a field of the items of `edits`. Text in parentheses is obvious from the name of its parameter, so no request contains it either.
 */
function partsOf(text: string): ToolTextParts {
  const [inputs, obvious] = [new Map<string, string>(), new Map<string, string>()]
  let notes: string | undefined
  const lines = text.trim().split('\n')
  const rest = lines.filter((line) => {
    const [, name, plain, words] = /^- ([\w.]+): (?:\((.*)\)|(.*))$/.exec(line) ?? []
    if (name !== undefined) (plain === undefined ? inputs : obvious).set(name, plain ?? words!)
    const [, note] = /^Notes: (.*)$/.exec(line) ?? []
    notes ??= note
    return name === undefined && note === undefined && line !== 'Inputs:'
  })
  return { description: rest.join('\n'), notes, inputs, obvious }
}

function withDescriptions(
  schema: JsonSchema,
  inputs: ReadonlyMap<string, string>,
  kept: (schema: JsonSchema) => JsonSchema = (all) => all,
  at = '',
): JsonSchema {
  const { properties, items } = schema as { properties?: Record<string, JsonSchema>; items?: JsonSchema }
  const inner = ([name, field]: [string, JsonSchema]) => {
    const place = at === '' ? name : `${at}.${name}`
    const words = inputs.get(place)
    const described = withDescriptions(field, inputs, kept, place)
    return [name, words === undefined ? described : { ...described, description: words }]
  }
  return {
    ...kept(schema),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(inner)) }),
    ...(items && { items: withDescriptions(items, inputs, kept, at) }),
  }
}
