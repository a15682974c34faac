import type { Tool } from '../core/work/tool.ts'
import { nearest } from '../base/nearest.ts'
import { anything, list, mapOf, optional, parser, string } from '../core/work/shape.ts'
import { defineTool } from './tool-definition.ts'

/** The tools of MCP servers as the index needs them; they come and go. */
export type ServerTools = {
  find(name: string): Tool | undefined
  lines(): string[]
  text(name: string, signal: AbortSignal): Promise<string | undefined>
}

/**
 * The tools through which a model reaches the tools that are described on demand: `more_tools` describes them and `call_tool`
 * calls one. A request then has their names instead of their descriptions. There is none where there is nothing to reach.
 */
export function toolIndex(onDemand: readonly Tool[], servers: ServerTools | undefined): Tool[] {
  if (onDemand.length === 0 && !servers) return []
  return [moreTools(onDemand, servers), callTool()]
}

const described = ({ name, description, schema }: Tool) => `${name}: ${description}\nInput: ${JSON.stringify(schema)}`

const firstLine = ({ name, description }: Tool) => `- ${name}: ${description.split('\n')[0]}`

function moreTools(onDemand: readonly Tool[], servers: ServerTools | undefined): Tool {
  const tool = defineTool({
    name: 'more_tools',
    risk: 'read',
    input: parser({ names: optional(list(string({ min: 1 }))) }),
    effect: () => ({ does: 'nothing' }),
    async run({ names }, { signal }) {
      if (!names?.length) return [...onDemand.map(firstLine), ...(servers?.lines() ?? [])].join('\n')
      const texts = await Promise.all(
        names.map(async (name) => {
          const found = onDemand.find((one) => one.name === name) ?? servers?.find(name)
          if (found) return described(found)
          return (await servers?.text(name, signal)) ?? noTool(name)
        }),
      )
      return texts.join('\n\n')
    },
  })
  const names = onDemand.map(({ name }) => name).join(', ')
  return names === '' ? tool : { ...tool, description: `${tool.description}\nThe other tools: ${names}.` }

  function noTool(name: string): string {
    const near = nearest(
      name,
      onDemand.map((one) => one.name),
    )
    return `There is no tool or MCP server ${name}${near ? `; did you mean ${near}?` : '. Call more_tools without names to see all.'}`
  }
}

/** An object whose fields another tool describes. */
const anyObject = { ...mapOf(anything()), json: () => ({ type: 'object' }) }

const called = parser({ name: string({ min: 1 }), input: optional(anyObject) })

function callTool(): Tool {
  return defineTool({
    name: 'call_tool',
    risk: 'read',
    input: called,
    effect: () => ({ does: 'nothing' }),
    standsFor(sent) {
      try {
        const { name, input = {} } = called.parse(sent)
        return { tool: name, input }
      } catch {
        return undefined
      }
    },
    async run() {
      throw new Error('call_tool cannot call itself. Name one of the tools that more_tools lists.')
    },
  })
}
