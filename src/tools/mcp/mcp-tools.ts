import type { Tool as Remote } from '@modelcontextprotocol/client'
import type { Effect, Tool } from '../../core/work/tool.ts'
import type { McpServer } from './remote-server.ts'
import { nearest } from '../../base/nearest.ts'
import { isMap } from './server-config.ts'
import { shortHash } from '../../base/hash.ts'
import { unavailableReason } from './server-lifecycle.ts'
import { sourceText } from '../../base/source-text.ts'

/** A longer description is cut, because it is part of every request. */
const longestDescription = 2_048

export type Input = Record<string, unknown>

const unknownEffect: Effect = { does: 'unknown', why: 'what a tool of an MCP server does is not known here' }

/**
 * A server's tool as one of ours. It counts as a tool that runs something, whatever the server says about it:
 * only a rule of the person allows it without a question.
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
  return tool
}

export function describe(server: string, { name, title, description }: Remote): string {
  const words = description?.trim() || title?.trim() || ''
  const text = words.length >= 10 ? words : `The tool ${name} of the MCP server ${server}. ${words}`.trim()
  return text.length <= longestDescription ? text : `${text.slice(0, longestDescription)} …`
}

/** A schema that every provider accepts: an object with properties, without `$schema`. */
export function schemaOf({ inputSchema }: Remote): Record<string, unknown> {
  const { $schema: _, ...schema } = inputSchema as Record<string, unknown>
  return { ...schema, type: 'object', properties: isMap(schema.properties) ? schema.properties : {} }
}

/** Checks required and unknown fields; the server itself checks the rest. */
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
    `there is no field ${stranger}${meant ? `; did you mean ${meant}?` : `; the fields are ${known.join(', ') || 'none'}.`}`,
  )
}

/** Some models send an object as JSON text. */
function parsed(input: unknown): unknown {
  if (typeof input !== 'string') return input
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

/** A tool that a resumed session knows, but whose server is not connected yet: a call waits for the server. */
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
      if (!tool) throw new Error(`the MCP server ${server.config.name} no longer has this tool; see mcp_tools`)
      return tool.run(tool.parse(input), call)
    },
  }
}

/** Some providers refuse longer names. */
const longestName = 64

/** The name of a server's tool for models and rules. */
export function toolName(server: string, tool: string): string {
  const name = `${prefixOf(server)}${clean(tool)}`
  return name.length <= longestName ? name : withHash(name, `${server}\0${tool}`)
}

/** The beginning of the names of a server's tools. */
export const prefixOf = (server: string) => `mcp__${clean(server)}__`

/** One unique name per tool; if two cleaned names are equal, the later one gets a hash of its real name. */
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

/** A tool's own name, if a model sent the full `mcp__server__tool`. */
export const shortName = (name: string) => name.replace(/^mcp__.*?__/, '')

const clean = (text: string) => text.replace(/[^A-Za-z0-9_-]+/g, '_') || '_'

function withHash(name: string, whole: string): string {
  const mark = `_${shortHash(whole).slice(-6)}`
  return name.slice(0, longestName - mark.length) + mark
}

type ListingInput = { server?: string; tool?: string }

/** Finds a server by name; throws an error that lists the servers. */
export function serverNamed(name: string, servers: readonly McpServer[]): McpServer {
  const found = servers.find(({ config }) => config.name === name)
  if (found) return found
  const names = servers.map(({ config }) => config.name)
  const meant = nearest(name, names)
  throw new Error(
    `there is no MCP server ${name}; ${meant ? `did you mean ${meant}?` : `the servers are: ${names.join(', ')}.`}`,
  )
}

export function remoteNamed(server: McpServer, name: string) {
  const short = shortName(name)
  const found = server.tools.find((tool) => tool.name === name) ?? server.tools.find((tool) => tool.name === short)
  if (found) return found
  const names = server.tools.map((tool) => tool.name)
  const meant = nearest(name, names)
  throw new Error(
    `the MCP server ${server.config.name} has no tool ${name}; ${meant ? `did you mean ${meant}?` : `its tools are: ${names.join(', ') || 'none'}.`}`,
  )
}

/** `mcp_tools`: shows models the tools that are not in the frame. Its own description never changes. */
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
      return given
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
  return tool
}

function line(server: McpServer, now: number): string {
  const { name } = server.config
  if (server.state.is !== 'ready') return `${name}: ${unavailableReason(name, server.state, now)}`
  return `${name}: ${server.tools.map((tool) => tool.name).join(', ') || 'no tools'}`
}

/** A server's instructions are cut after this many characters. */
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

/** `mcp_call`: calls any tool of any server, also one that came after the frame was frozen. */
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
      // The tools of a server that is not connected are unknown: the call itself reports that.
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
  return tool
}

const anything = (name: string) => ({ name, inputSchema: { type: 'object' as const } })
