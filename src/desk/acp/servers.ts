import type { McpServer } from '@agentclientprotocol/sdk'

type Named = readonly { name: string; value: string }[]

/** The MCP servers that an editor hands over, as settings name them. */
export function serversOf(servers: readonly McpServer[]): Record<string, unknown> {
  return Object.fromEntries(servers.flatMap((server) => (written(server) ? [[server.name, written(server)]] : [])))
}

/** Undefined for a kind that was not said to be taken. */
function written(server: McpServer): object | undefined {
  if ('command' in server) return { command: server.command, args: server.args, env: mapOf(server.env) }
  return 'url' in server ? { type: server.type, url: server.url, headers: mapOf(server.headers) } : undefined
}

const mapOf = (rows: Named) => Object.fromEntries(rows.map(({ name, value }) => [name, value]))
