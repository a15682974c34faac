import type { Tool } from '../../core/work/tool.ts'
import type { ServerConfig } from './server-config.ts'
import type { McpParts } from './mcp-server.ts'
import type { McpStatus, ServerStatus } from './server-status.ts'
import { McpServer } from './mcp-server.ts'
import { statusOf } from './server-status.ts'
import { awaitedTool, callingTool, listingTool, prefixOf, remoteTool, serverNamed, toolNames } from './mcp-tools.ts'

/** More tools than this are not put into every request: they are seen and called one by one. */
const mostDirect = 40

/** What is configured: read again when it is refreshed. */
export type McpConfig = { servers: readonly ServerConfig[]; warnings: readonly string[] }

export interface McpServers {
  /** What can be called now: those of connected servers by their names, and the two fixed ones; none without a server. */
  tools(): Tool[]
  /** A tool by its name, also one of too many, and one of a server that is not there yet: a frame may be older than it. */
  find(name: string): Tool | undefined
  /** What a model was not told of: tools that are not among `known`, and words about them. Undefined when there are none. */
  news(known: ReadonlySet<string>): News | undefined
  status(): McpStatus
  /** Once none is starting any more, or the signal aborts: for whoever would rather wait than go on. */
  settled(signal: AbortSignal): Promise<void>
  /** Ends all, and begins anew with what is configured now. */
  refresh(config: McpConfig): Promise<void>
  /** Lets a person log in; gives how it went, in words. */
  login(name: string, show: (url: string) => Promise<void>, signal: AbortSignal): Promise<ServerStatus>
  close(): Promise<void>
}

export type News = { tools: string[]; text: string }

type Named = { server: McpServer; tools: Tool[] }

/** Starts all servers side by side, and waits for none of them. */
export function openServers(config: McpConfig, parts: McpParts): McpServers {
  const now = () => parts.clock.now()
  let warnings = config.warnings
  let servers = config.servers.map((one) => new McpServer(one, parts))
  const all = () => servers
  const fixed = [listingTool(all, now), callingTool(all, now)]

  /** Every tool there is, by the order of the configuration: the same set gives the same names. */
  const named = (): Named[] => {
    const taken = new Set<string>()
    return servers.map((server) => {
      const names = toolNames(
        server.config.name,
        server.tools.map((tool) => tool.name),
        taken,
      )
      return { server, tools: server.tools.map((remote) => remoteTool(server, remote, names.get(remote.name)!)) }
    })
  }
  /** A server's tools go in whole or not at all. */
  const direct = () => {
    let room = mostDirect
    return named().filter(({ tools }) => tools.length <= room && ((room -= tools.length), true))
  }
  const listed = (name: string) =>
    [...fixed, ...named().flatMap(({ tools }) => tools)].find((tool) => tool.name === name)
  const awaited = (name: string) => {
    const server = servers.find((one) => name.startsWith(prefixOf(one.config.name)))
    return server && awaitedTool(server, name, () => listed(name), now)
  }

  return {
    tools: () => (servers.length === 0 ? [] : [...fixed, ...direct().flatMap(({ tools }) => tools)]),
    find: (name) => listed(name) ?? awaited(name),
    news(known) {
      const late = named()
        .map(({ server, tools }) => ({
          server,
          left: tools
            .map(({ name }, at) => ({ name, own: server.tools[at]!.name }))
            .filter(({ name }) => !known.has(name)),
        }))
        .filter(({ left }) => left.length > 0)
      if (late.length === 0) return undefined
      const lines = late.map(({ server, left }) => `- ${server.config.name}: ${left.map(({ own }) => own).join(', ')}`)
      return {
        tools: late.flatMap(({ left }) => left.map(({ name }) => name)),
        text: ['More tools of MCP servers can be called with mcp_call, after a look at mcp_tools:', ...lines].join(
          '\n',
        ),
      }
    },
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
