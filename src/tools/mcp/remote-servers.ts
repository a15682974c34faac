import type { Tool } from '../../core/work/tool.ts'
import type { ServerConfig } from './server-config.ts'
import type { McpParts } from './remote-server.ts'
import type { McpStatus, ServerStatus } from './server-status.ts'
import { McpServer } from './remote-server.ts'
import { statusOf } from './server-status.ts'
import { awaitedTool, callingTool, listingTool, prefixOf, remoteTool, serverNamed, toolNames } from './mcp-tools.ts'

/** With more tools than this, further servers' tools are not in every request: models find and call them by mcp_tools and mcp_call. */
const mostDirect = 40

/** The configured servers and the faults in their configuration. */
export type McpConfig = { servers: readonly ServerConfig[]; warnings: readonly string[] }

export interface McpServers {
  /** The tools that can be called now: those of connected servers, and the two fixed ones; none without a server. */
  tools(): Tool[]
  /** Finds a tool by name, also one that is not in every request, or one whose server is not connected yet. */
  find(name: string): Tool | undefined
  /** Tools that are not among `known`, with a text about them for the model; undefined when there are none. */
  news(known: ReadonlySet<string>): News | undefined
  status(): McpStatus
  /** Waits until no server is starting, or the signal aborts. */
  settled(signal: AbortSignal): Promise<void>
  /** Closes all servers and starts those of the new configuration. */
  refresh(config: McpConfig): Promise<void>
  /** Lets a person log in; returns the server's status afterwards. */
  login(name: string, show: (url: string) => Promise<void>, signal: AbortSignal): Promise<ServerStatus>
  close(): Promise<void>
}

export type News = { tools: string[]; text: string }

type Named = { server: McpServer; tools: Tool[] }

/** Starts all servers in parallel and waits for none of them. */
export function openServers(config: McpConfig, parts: McpParts): McpServers {
  const now = () => parts.clock.now()
  let warnings = config.warnings
  let servers = config.servers.map((one) => new McpServer(one, parts))
  const all = () => servers
  const fixed = [listingTool(all, now), callingTool(all, now)]

  /** Names all tools in the order of the configuration, so that the same servers give the same names. */
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
  /** The servers whose tools are in every request: all of a server's tools or none. */
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
        text: ['More tools of MCP servers can be called with mcp_call; mcp_tools describes them:', ...lines].join('\n'),
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
