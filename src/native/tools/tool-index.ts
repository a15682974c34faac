import type { Tool } from '../../core/work/tool.ts'
import type { JsonSchema } from '../../core/data/shape.ts'
import { nearest } from '../../base/text/nearest.ts'
import { describedTool } from '../../core/work/tool.ts'
import { anything, mapOf, optional, parser, string } from '../../core/data/shape.ts'
import { defineTool } from './shared/tool-definition.ts'

/** The tools of MCP servers in the form for the index; they come and go. */
type ServerTools = {
  find(name: string): Tool | undefined
  lines(): string[]
  text(name: string, signal: AbortSignal): Promise<string | undefined>
}

/** An object whose fields another tool describes. */
const anyObject = { ...mapOf(anything()), json: () => ({ type: 'object' }) }

const input = parser({ name: optional(string({ min: 1 })), input: optional(anyObject) })

/**
 * The tool `more_tools`, through which a model reaches the tools of `rest`. A request contains their names and the names of their
 * required inputs, so that a model can call one at once; their whole descriptions are given on demand, as are those of the tools in
 * `frame`. If there is nothing to reach, this tool does not exist.
 */
export function toolIndex(frame: readonly Tool[], rest: readonly Tool[], servers: ServerTools | undefined): Tool[] {
  if (rest.length === 0 && !servers) return []
  const known = [...frame, ...rest]
  const tool = defineTool({
    name: 'more_tools',
    risk: 'read',
    input,
    effect: () => ({ does: 'nothing' }),
    standsFor(sent) {
      const { name, input } = readInput(sent)
      if (name === undefined) return undefined
      const takesNothing = isEmpty(known.find((one) => one.name === name)?.schema)
      return input || takesNothing ? { tool: name, input: input ?? {} } : undefined
    },
    async run({ name }, { signal }) {
      if (name === undefined) return [...rest.map(firstLine), ...(servers?.lines() ?? [])].join('\n')
      const found = known.find((one) => one.name === name) ?? servers?.find(name)
      if (found) return describedTool(found)
      return (await servers?.text(name, signal)) ?? noTool(name, known)
    },
  })
  const lines = [
    tool.description,
    ...(rest.length > 0 ? [`Tools: ${rest.map(signature).join(', ')}.`] : []),
    ...(servers ? ['MCP servers have tools too: send the name of a server, or no name, to see them.'] : []),
  ]
  return [{ ...tool, description: lines.join('\n') }]
}

/** The valid part of the input; `run` says what is wrong with the rest. */
function readInput(sent: unknown): { name?: string; input?: Record<string, unknown> } {
  try {
    return input.parse(sent)
  } catch {
    return {}
  }
}

const isEmpty = (schema: JsonSchema | undefined) =>
  schema !== undefined && Object.keys((schema.properties as object | undefined) ?? {}).length === 0

const firstLine = ({ name, description }: Tool) => `- ${name}: ${description.split('\n')[0]}`

/** A tool with the names of its required inputs, on one line: `todo_write(items: [{task, status}])`. */
function signature({ name, schema }: Tool): string {
  return `${name}(${neededFields(schema).join(', ')})`
}

function neededFields({ properties = {}, required = [] }: { properties?: object; required?: string[] }): string[] {
  return required.map((name) => {
    const { items } = (properties as Record<string, { items?: { properties?: object; required?: string[] } }>)[name]!
    return items?.properties ? `${name}: [{${neededFields(items).join(', ')}}]` : name
  })
}

function noTool(name: string, known: readonly Tool[]): string {
  const near = nearest(
    name,
    known.map((one) => one.name),
  )
  return `There is no tool or MCP server ${name}${near ? `; did you mean ${near}?` : '. Call more_tools without a name to see all.'}`
}
