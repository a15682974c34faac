import type { Tool } from '../../core/work/tool.ts'
import type { Server } from './server.ts'
import { nearest } from '../../base/nearest.ts'
import { textBeside } from '../../base/text-beside.ts'
import { absence } from './absence.ts'
import { isMap } from './check.ts'
import { shortName } from './names.ts'
import { describe, schemaOf } from './remote-tool.ts'

type Look = { server?: string; tool?: string }

/** One server of those there are; throws words that name them. */
export function serverNamed(name: string, servers: readonly Server[]): Server {
  const found = servers.find(({ config }) => config.name === name)
  if (found) return found
  const names = servers.map(({ config }) => config.name)
  const meant = nearest(name, names)
  throw new Error(
    `there is no MCP server ${name}; ${meant ? `do you mean ${meant}?` : `there are: ${names.join(', ')}.`}`,
  )
}

export function remoteNamed(server: Server, name: string) {
  const short = shortName(name)
  const found = server.tools.find((tool) => tool.name === name) ?? server.tools.find((tool) => tool.name === short)
  if (found) return found
  const names = server.tools.map((tool) => tool.name)
  const meant = nearest(name, names)
  throw new Error(
    `the MCP server ${server.config.name} has no tool ${name}; ${meant ? `do you mean ${meant}?` : `it has: ${names.join(', ') || 'none'}.`}`,
  )
}

/** The one way to see tools that are not in the frame: its own words and schema never change. */
export function lookTool(servers: () => readonly Server[], now: () => number): Tool {
  const tool: Tool<Look> = {
    name: 'mcp_tools',
    description: textBeside('tools/mcp/mcp_tools.md').trim(),
    schema: {
      type: 'object',
      properties: { server: { type: 'string' }, tool: { type: 'string' } },
      additionalProperties: false,
    },
    risk: 'read',
    parse(input) {
      const given = input ?? {}
      if (!isMap(given)) throw new Error('the input must be an object with server and tool, or {}.')
      for (const key of ['server', 'tool'] as const)
        if (given[key] !== undefined && typeof given[key] !== 'string') throw new Error(`${key} must be text.`)
      if (given.tool !== undefined && given.server === undefined) throw new Error('a tool needs its server.')
      return given as Look
    },
    async run(look, { signal }) {
      if (look.server === undefined)
        return (
          servers()
            .map((server) => line(server, now()))
            .join('\n') || 'There are none.'
        )
      const server = serverNamed(look.server, servers())
      const state = await server.settled(signal)
      if (state.is !== 'ready') throw new Error(absence(look.server, state, now()))
      if (look.tool === undefined) return whole(server)
      const remote = remoteNamed(server, look.tool)
      return `${describe(look.server, remote)}\n\nInput: ${JSON.stringify(schemaOf(remote))}`
    },
  }
  return tool as Tool
}

function line(server: Server, now: number): string {
  const { name } = server.config
  if (server.state.is !== 'ready') return `${name}: ${absence(name, server.state, now)}`
  return `${name}: ${server.tools.map((tool) => tool.name).join(', ') || 'no tools'}`
}

/** What a server says of itself may be long; its beginning is what matters. */
const longestInstructions = 2_048

function whole(server: Server): string {
  const { state } = server
  const said =
    state.is === 'ready' ? state.connection.client.getInstructions()?.trim().slice(0, longestInstructions) : ''
  const tools = server.tools.map(
    (tool) => `- ${tool.name}: ${describe(server.config.name, tool).split('\n')[0]!.slice(0, 200)}`,
  )
  return [...(said ? [said, ''] : []), ...tools].join('\n') || 'It has no tools.'
}
