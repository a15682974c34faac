import type { Tool } from '../../core/work/tool.ts'
import type { ServerConfig } from './server-config.ts'
import type { McpParts } from './remote-server.ts'
import type { McpStatus, ServerStatus } from './server-status.ts'
import { McpServer } from './remote-server.ts'
import { statusOf } from './server-status.ts'
import { awaitedTool, prefixOf, remoteTool, serverLine, serverNamed, serverText, toolNames } from './mcp-tools.ts'
import { unavailableReason } from './server-lifecycle.ts'

/** With more tools than this, further servers' tools are described on demand. */
const mostDirect = 40

/** The configured servers and the faults in their configuration. */
export type McpConfig = { servers: readonly ServerConfig[]; warnings: readonly string[] }

export interface McpServers {
  /** The tools of connected servers, except of those that would make every request too long. */
  tools(): Tool[]
  /** Each server in one line, with the names of its tools or why it has none now. */
  lines(): string[]
  /** What a server says of its tools; undefined when there is no server of this name. Waits for a server that is starting. */
  text(name: string, signal: AbortSignal): Promise<string | undefined>
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
    named()
      .flatMap(({ tools }) => tools)
      .find((tool) => tool.name === name)
  const awaited = (name: string) => {
    const server = servers.find((one) => name.startsWith(prefixOf(one.config.name)))
    return server && awaitedTool(server, name, () => listed(name), now)
  }

  return {
    tools: () => direct().flatMap(({ tools }) => tools),
    lines: () =>
      named().map(({ server, tools }) =>
        serverLine(
          server,
          tools.map(({ name }) => name),
          now(),
        ),
      ),
    async text(name, signal) {
      const server = servers.find(({ config }) => config.name === name)
      if (!server) return undefined
      const state = await server.settled(signal)
      if (state.is !== 'ready') throw new Error(unavailableReason(name, state, now()))
      return serverText(server, named().find((one) => one.server === server)!.tools)
    },
    find: (name) => listed(name) ?? awaited(name),
    news(known) {
      const late = named()
        .map(({ server, tools }) => ({
          server,
          left: tools.map(({ name }) => name).filter((name) => !known.has(name)),
        }))
        .filter(({ left }) => left.length > 0)
      if (late.length === 0) return undefined
      const lines = late.map(({ server, left }) => `- ${server.config.name}: ${left.join(', ')}`)
      return {
        tools: late.flatMap(({ left }) => left),
        text: ['More tools of MCP servers can be called with call_tool; more_tools describes them:', ...lines].join(
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
