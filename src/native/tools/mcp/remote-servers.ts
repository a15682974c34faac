import type { PromptMessage } from '@modelcontextprotocol/client'
import type { Tool } from '../../../core/work/tool.ts'
import type { ServerConfig } from './server-config.ts'
import type { Exchange, McpParts, SuggestionRequest } from './remote-server.ts'
import type { ListedPrompt } from './server-catalog.ts'
import type { ResourceContent } from './resource-content.ts'
import type { ResourceMention } from './resource-mentions.ts'
import type { McpStatus, ServerLists, ServerStatus } from './server-status.ts'
import { McpServer } from './remote-server.ts'
import { statusOf } from './server-status.ts'
import {
  awaitedTool,
  prefixOf,
  remoteTool,
  resourcesTool,
  serverLine,
  serverNamed,
  serverText,
  toolNames,
} from './mcp-tools.ts'
import { personReason, unavailableReason } from './server-lifecycle.ts'
import { resourceMentions } from './resource-mentions.ts'

/** If there are more tools than this, the tools of further servers are described on demand. */
const mostDirect = 40

/** The configured servers and the errors in their configuration. */
export type McpConfig = { servers: readonly ServerConfig[]; warnings: readonly string[] }

export interface McpServers {
  /** The tools of connected servers, except of those that would make every request too long. */
  tools(): Tool[]
  /** Each server on one line, with the names of its tools or the reason why it has none now. */
  lines(): string[]
  /** The description of a server and its tools; undefined if there is no server of this name. Waits for a server that is starting. */
  text(name: string, signal: AbortSignal): Promise<string | undefined>
  /** Finds a tool by name, even one that is not in every request, or one whose server is not connected yet. */
  find(name: string): Tool | undefined
  /** Tools that are not among `known`, with a text about them for the model; undefined if all tools are known. */
  news(known: ReadonlySet<string>): News | undefined
  /** The names of all configured servers. */
  names(): string[]
  /** The resources that can be written after an `@`, as far as their lists arrive within a moment. */
  mentions(typed: string, signal: AbortSignal): Promise<ResourceMention[]>
  /** Whether a connected server lists a resource of this address. */
  lists(server: string, uri: string): Promise<boolean>
  /** Reads a resource for a person; waits for a server that is starting. Throws an error that says what to do. */
  read(server: string, uri: string, most: number, call: Exchange): Promise<ResourceContent>
  /** The prompts of the connected servers whose lists are already read; the other lists are requested. */
  prompts(): ServedPrompt[]
  /** The prompts of one server; waits for a server that is starting. */
  promptsOf(server: string, signal: AbortSignal): Promise<ListedPrompt[]>
  /** Gets the messages of a prompt for a person. */
  prompt(server: string, name: string, values: Record<string, string>, call: Exchange): Promise<PromptMessage[]>
  /** Values that a server suggests for an argument of a prompt; none if it suggests nothing. */
  suggest(server: string, about: SuggestionRequest, signal: AbortSignal): Promise<string[]>
  status(): McpStatus
  /** Reads the lists of all connected servers; a list that cannot be read counts as empty. */
  listed(): Promise<ServerLists[]>
  /** Waits until no server is starting, or the signal aborts. */
  settled(signal: AbortSignal): Promise<void>
  /** Closes all servers and starts those of the new configuration. */
  refresh(config: McpConfig): Promise<void>
  /** Lets a person log in; returns the server's status afterwards. */
  login(name: string, show: (url: string) => Promise<void>, signal: AbortSignal): Promise<ServerStatus>
  close(): Promise<void>
}

type News = { tools: string[]; text: string }

/** A prompt of a server. */
export type ServedPrompt = ListedPrompt & { server: string }

/** A server with its tools by their unique names, and the tool for its resources, which is described on demand. */
type Named = { server: McpServer; tools: Tool[]; more: Tool[] }

/** Starts all servers in parallel and does not wait for them. */
export function openServers(config: McpConfig, parts: McpParts): McpServers {
  const now = () => parts.clock.now()
  let warnings = config.warnings
  let servers = config.servers.map((one) => new McpServer(one, parts))

  /** Names all tools in the order of the configuration, so that the same servers always get the same names. */
  const named = (): Named[] => {
    const taken = new Set<string>()
    return servers.map((server) => {
      const names = toolNames(
        server.config.name,
        server.tools.map((tool) => tool.name),
        taken,
      )
      const tools = server.tools.map((remote) => remoteTool(server, remote, names.get(remote.name)!))
      if (!server.offers('resources')) return { server, tools, more: [] }
      const name = toolNames(server.config.name, ['resources'], taken).get('resources')!
      return { server, tools, more: [resourcesTool(server, name, parts.blobs)] }
    })
  }
  /** The servers whose tools are in every request: all of a server's tools or none. */
  const direct = () => {
    let room = mostDirect
    return named().filter(({ tools }) => tools.length <= room && ((room -= tools.length), true))
  }
  const listed = (name: string) =>
    named()
      .flatMap(({ tools, more }) => [...tools, ...more])
      .find((tool) => tool.name === name)
  const awaited = (name: string) => {
    const server = servers.find((one) => name.startsWith(prefixOf(one.config.name)))
    return server && awaitedTool(server, name, () => listed(name), now)
  }

  /** A connected server; throws an error that tells the person what to do. */
  const reached = async (name: string, signal: AbortSignal) => {
    const server = serverNamed(name, servers)
    const state = await server.settled(signal)
    if (state.is !== 'ready') throw new Error(personReason(name, state, now()))
    return server
  }

  return {
    tools: () => direct().flatMap(({ tools }) => tools),
    lines: () =>
      named().map(({ server, tools, more }) =>
        serverLine(
          server,
          [...tools, ...more].map(({ name }) => name),
          now(),
        ),
      ),
    async text(name, signal) {
      const server = servers.find(({ config }) => config.name === name)
      if (!server) return undefined
      const state = await server.settled(signal)
      if (state.is !== 'ready') throw new Error(unavailableReason(name, state, now()))
      const { tools, more } = named().find((one) => one.server === server)!
      return serverText(server, [...tools, ...more])
    },
    find: (name) => listed(name) ?? awaited(name),
    news(known) {
      const late = named()
        .map(({ server, tools, more }) => ({
          server,
          left: [...tools, ...more].map(({ name }) => name).filter((name) => !known.has(name)),
        }))
        .filter(({ left }) => left.length > 0)
      if (late.length === 0) return undefined
      const lines = late.map(({ server, left }) => `- ${server.config.name}: ${left.join(', ')}`)
      return {
        tools: late.flatMap(({ left }) => left),
        text: ['More tools of MCP servers are there now; more_tools describes and calls them:', ...lines].join('\n'),
      }
    },
    names: () => servers.map(({ config }) => config.name),
    mentions: (typed, signal) => resourceMentions(servers, typed, parts.clock, signal),
    async lists(name, uri) {
      const listed = await serverNamed(name, servers)
        .list('resources')
        .catch(() => [])
      return listed.some((one) => one.uri === uri)
    },
    async read(name, uri, most, call) {
      return (await reached(name, call.signal)).read(uri, most, call)
    },
    prompts() {
      return servers.flatMap((server) => {
        const known = server.known('prompts')
        // Calls `changed` once the list is read; an unreadable list offers nothing.
        if (!known) void server.list('prompts').catch(() => {})
        return (known ?? []).map((prompt) => ({ ...prompt, server: server.config.name }))
      })
    },
    async promptsOf(name, signal) {
      return (await reached(name, signal)).list('prompts')
    },
    async prompt(name, prompt, values, call) {
      return (await reached(name, call.signal)).prompt(prompt, values, call)
    },
    suggest: async (name, about, signal) => serverNamed(name, servers).suggest(about, signal),
    status() {
      const shown = new Set(direct().map(({ server }) => server))
      const one = ({ server, tools }: Named) =>
        statusOf(
          server,
          tools.map(({ name }) => name),
          shown.has(server),
        )
      return { servers: named().map(one), warnings }
    },
    async listed() {
      const kinds = ['resources', 'templates', 'prompts'] as const
      const ready = servers.filter(({ state }) => state.is === 'ready')
      return Promise.all(
        ready.map(async (server) => {
          const [resources, templates, prompts] = await Promise.all(
            kinds.map((kind) => server.list(kind).catch(() => [])),
          )
          return { name: server.config.name, resources, templates, prompts } as ServerLists
        }),
      )
    },
    async settled(signal) {
      await Promise.all(servers.map((server) => server.settled(signal)))
    },
    async refresh(next) {
      await Promise.all(servers.map((server) => server.close()))
      warnings = next.warnings
      servers = next.servers.map((one) => new McpServer(one, parts))
    },
    async login(name, show, signal) {
      await serverNamed(name, servers).login(show, signal)
      return this.status().servers.find((server) => server.name === name)!
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}
