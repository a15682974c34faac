import type { Tool as Remote } from '@modelcontextprotocol/client'
import type { Effect, Tool } from '../../core/work/tool.ts'
import type { McpServer } from './mcp-server.ts'
import { nearest } from '../../base/nearest.ts'
import { isMap } from './server-config.ts'
import { shortHash } from '../../base/hash.ts'
import { unavailableReason } from './server-lifecycle.ts'
import { sourceText } from '../../base/source-text.ts'

/** Longer descriptions cost every request of a session. */
const longestDescription = 2_048

export type Input = Record<string, unknown>

const unknownEffect: Effect = { does: 'unknown', why: 'what a tool of an MCP server does is not known here' }

/**
 * A server's tool as one of ours. It counts as one that runs something, whatever the server says of it:
 * only a rule of the person lets it go unasked.
 */
export function remoteTool(server: McpServer, remote: Remote, name: string): Tool {
  const tool: Tool<Input> = {
    name,
    description: describe(server.config.name, remote),
    schema: schemaOf(remote),
    risk: 'run',
    effect: () => unknownEffect,
    parse: (input) => parseFor(remote, input),
    run: (input, call) => server.call(remote.name, input, call),
  }
  return tool as Tool
}

export function describe(server: string, { name, title, description }: Remote): string {
  const words = description?.trim() || title?.trim() || ''
  const text = words.length >= 10 ? words : `The tool ${name} of the MCP server ${server}. ${words}`.trim()
  return text.length <= longestDescription ? text : `${text.slice(0, longestDescription)} …`
}

/** As every provider takes it: an object with properties, without the dialect's address. */
export function schemaOf({ inputSchema }: Remote): Record<string, unknown> {
  const { $schema: _, ...schema } = inputSchema as Record<string, unknown>
  return { ...schema, type: 'object', properties: isMap(schema.properties) ? schema.properties : {} }
}

/** The rest is the server's to judge: it knows its schema best, and says what it misses. */
export function parseFor(remote: Remote, input: unknown): Input {
  const given = input === undefined || input === null ? {} : parsed(input)
  if (!isMap(given)) throw new Error('the input must be an object.')
  const { required, properties, additionalProperties } = remote.inputSchema as Record<string, unknown>
  const known = isMap(properties) ? Object.keys(properties) : []
  const missing = (Array.isArray(required) ? required : []).find((key) => given[key] === undefined)
  if (missing !== undefined) throw new Error(`${String(missing)} is missing; it takes ${known.join(', ')}.`)
  const stranger = additionalProperties === false ? Object.keys(given).find((key) => !known.includes(key)) : undefined
  if (stranger === undefined) return given
  const meant = nearest(stranger, known)
  throw new Error(
    `there is no ${stranger}${meant ? `; do you mean ${meant}?` : `; it takes ${known.join(', ') || 'nothing'}.`}`,
  )
}

/** Some models send an object as the text of it. */
function parsed(input: unknown): unknown {
  if (typeof input !== 'string') return input
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

/** A tool that a resumed session knows from before, and its server has not named yet: it is waited for when it is called. */
export function awaitedTool(server: McpServer, name: string, listed: () => Tool | undefined, now: () => number): Tool {
  return {
    name,
    description: `A tool of the MCP server ${server.config.name}, which is not connected yet.`,
    schema: { type: 'object', properties: {} },
    risk: 'run',
    effect: () => unknownEffect,
    parse: (input) => input,
    async run(input, call) {
      const state = await server.settled(call.signal)
      if (state.is !== 'ready') throw new Error(unavailableReason(server.config.name, state, now()))
      const tool = listed()
      if (!tool) throw new Error(`the MCP server ${server.config.name} has no such tool any more; see mcp_tools`)
      return tool.run(tool.parse(input), call)
    },
  }
}

/** Longer ones are refused by some providers. */
const longestName = 64

/** The name under which a model calls a server's tool, and a rule allows it. */
export function toolName(server: string, tool: string): string {
  const name = `${prefixOf(server)}${clean(tool)}`
  return name.length <= longestName ? name : withHash(name, `${server}\0${tool}`)
}

/** What the names of a server's tools begin with. */
export const prefixOf = (server: string) => `mcp__${clean(server)}__`

/** One name for each; where two clean names meet, the later one carries a mark of what it really is. */
export function toolNames(server: string, tools: readonly string[], taken: Set<string>): Map<string, string> {
  return new Map(
    tools.map((tool) => {
      const plain = toolName(server, tool)
      const name = taken.has(plain) ? withHash(plain, `${server}\0${tool}`) : plain
      taken.add(name)
      return [tool, name]
    }),
  )
}

/** A tool's own name, of the long one that models copy from elsewhere. */
export const shortName = (name: string) => name.replace(/^mcp__.*?__/, '')

const clean = (text: string) => text.replace(/[^A-Za-z0-9_-]+/g, '_') || '_'

function withHash(name: string, whole: string): string {
  const mark = `_${shortHash(whole).slice(-6)}`
  return name.slice(0, longestName - mark.length) + mark
}

type ListingInput = { server?: string; tool?: string }

/** One server of those there are; throws words that name them. */
export function serverNamed(name: string, servers: readonly McpServer[]): McpServer {
  const found = servers.find(({ config }) => config.name === name)
  if (found) return found
  const names = servers.map(({ config }) => config.name)
  const meant = nearest(name, names)
  throw new Error(
    `there is no MCP server ${name}; ${meant ? `do you mean ${meant}?` : `there are: ${names.join(', ')}.`}`,
  )
}

export function remoteNamed(server: McpServer, name: string) {
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
export function listingTool(servers: () => readonly McpServer[], now: () => number): Tool {
  const tool: Tool<ListingInput> = {
    name: 'mcp_tools',
    description: sourceText('tools/mcp/mcp_tools.md').trim(),
    schema: {
      type: 'object',
      properties: { server: { type: 'string' }, tool: { type: 'string' } },
      additionalProperties: false,
    },
    risk: 'read',
    effect: () => ({ does: 'nothing' }),
    parse(input) {
      const given = input ?? {}
      if (!isMap(given)) throw new Error('the input must be an object with server and tool, or {}.')
      for (const key of ['server', 'tool'] as const)
        if (given[key] !== undefined && typeof given[key] !== 'string') throw new Error(`${key} must be text.`)
      if (given.tool !== undefined && given.server === undefined) throw new Error('a tool needs its server.')
      return given as ListingInput
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
      if (state.is !== 'ready') throw new Error(unavailableReason(look.server, state, now()))
      if (look.tool === undefined) return allTools(server)
      const remote = remoteNamed(server, look.tool)
      return `${describe(look.server, remote)}\n\nInput: ${JSON.stringify(schemaOf(remote))}`
    },
  }
  return tool as Tool
}

function line(server: McpServer, now: number): string {
  const { name } = server.config
  if (server.state.is !== 'ready') return `${name}: ${unavailableReason(name, server.state, now)}`
  return `${name}: ${server.tools.map((tool) => tool.name).join(', ') || 'no tools'}`
}

/** What a server says of itself may be long; its beginning is what matters. */
const longestInstructions = 2_048

function allTools(server: McpServer): string {
  const { state } = server
  const said =
    state.is === 'ready' ? state.connection.client.getInstructions()?.trim().slice(0, longestInstructions) : ''
  const tools = server.tools.map(
    (tool) => `- ${tool.name}: ${describe(server.config.name, tool).split('\n')[0]!.slice(0, 200)}`,
  )
  return [...(said ? [said, ''] : []), ...tools].join('\n') || 'It has no tools.'
}

export type RemoteCall = { server: string; tool: string; input: Input }

/** One fixed tool for all that came after the frame was frozen. */
export function callingTool(servers: () => readonly McpServer[], now: () => number): Tool {
  const tool: Tool<RemoteCall> = {
    name: 'mcp_call',
    description: sourceText('tools/mcp/mcp_call.md').trim(),
    schema: {
      type: 'object',
      properties: { server: { type: 'string' }, tool: { type: 'string' }, input: { type: 'object' } },
      required: ['server', 'tool', 'input'],
      additionalProperties: false,
    },
    risk: 'run',
    effect: () => unknownEffect,
    ruleName: ({ server, tool }) => toolName(server, tool),
    parse(input) {
      if (!isMap(input)) throw new Error('the input must be an object with server, tool and input.')
      const { server: name, tool, input: given = {} } = input
      if (typeof name !== 'string' || typeof tool !== 'string') throw new Error('server and tool must be text.')
      const server = serverNamed(name, servers())
      // While it is away nobody knows its tools: the call itself says so.
      if (server.state.is !== 'ready') return { server: name, tool, input: parseFor(anything(tool), given) }
      const remote = remoteNamed(server, tool)
      return { server: name, tool: remote.name, input: parseFor(remote, given) }
    },
    async run({ server: name, tool, input }, call) {
      const server = serverNamed(name, servers())
      const state = await server.settled(call.signal)
      if (state.is !== 'ready') throw new Error(unavailableReason(name, state, now()))
      const remote = remoteNamed(server, tool)
      return server.call(remote.name, parseFor(remote, input), call)
    },
  }
  return tool as Tool
}

const anything = (name: string) => ({ name, inputSchema: { type: 'object' as const } })
