import type { McpConfig, McpServers } from './tools/mcp/remote-servers.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Settings } from '../settings/settings.ts'
import type { NativeParts } from './native-parts.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { collect } from '../base/process/collect.ts'
import { openKeys } from '../safety/api-keys.ts'
import { version } from '../base/version.ts'
import { enclose } from './native-enclosure.ts'
import { noteOnce } from './native-parts.ts'
import { isWalled } from './command-wall.ts'
import { withoutModelKeys } from '../core/profile/key-variables.ts'

const files = ['.mcp.json', 'termaite.mcp.yaml', 'terminus.mcp.yaml']

type ServerOptions = {
  settings: Settings
  /** The leash of the wall around the servers. */
  leash: Leash
  trusted: boolean
}

/**
 * Starts the MCP servers of this run once, and again if they need another wall or the folder's trust has changed. An agent that may only
 * read calls no server, so the servers of other agents keep running. Undefined if no server is configured; then no MCP code is loaded.
 */
export function serversOf(parts: NativeParts, options: ServerOptions): Promise<McpServers | undefined> {
  const { state } = parts
  const { settings, leash, trusted } = options
  const was = state.mcp.seat
  const isSame = !was || (was.trusted === trusted && (leash === 'read' || wallKind(was) === wallKind(options)))
  if (state.mcp.servers && isSame) return state.mcp.servers
  state.mcp.seat = { settings, leash, trusted }
  return (state.mcp.servers = state.mcp.servers ? refreshedServers(parts, options) : open(parts, options))
}

const wallKind = ({ settings, leash }: Pick<ServerOptions, 'settings' | 'leash'>): string =>
  isWalled({ settings }, leash) ? (leash === 'read' ? 'read' : 'write') : 'none'

/** Applies the current configuration: stops the running servers and starts them again. */
export async function refreshedServers(parts: NativeParts, options: ServerOptions): Promise<McpServers | undefined> {
  const { state } = parts
  const running = await state.mcp.servers
  state.mcp.seat = { settings: options.settings, leash: options.leash, trusted: options.trusted }
  const config = await checkedServers(parts, options)
  if (running && config) await running.refresh(config)
  else await running?.close()
  const now = running && config ? Promise.resolve(running) : open(parts, options)
  state.mcp.servers = now
  return now
}

/** Whether the project has a file that may configure MCP servers. */
export const hasServerFile = ({ root }: Pick<NativeParts, 'root'>) => files.some((file) => existsSync(join(root, file)))

/** Reads which servers are configured now; undefined if no server is configured. */
export async function configuredServers(parts: NativeParts, options: ServerOptions): Promise<McpConfig | undefined> {
  const { root, home, env } = parts
  const { trusted } = options
  const settings = options.settings.mcpServers
  const own = Object.keys(settings).length > 0
  if (!own && !(trusted && hasServerFile(parts))) return undefined
  const { readServers } = await import('./tools/mcp/server-config.ts')
  const config = await readServers({ root, home: env.HOME ?? home, env, trusted, settings })
  return config.servers.length === 0 && config.warnings.length === 0 ? undefined : config
}

/** Reads which servers are configured, and shows the person a note about each wrong entry once. */
export async function checkedServers(parts: NativeParts, options: ServerOptions): Promise<McpConfig | undefined> {
  const config = await configuredServers(parts, options)
  for (const warning of config?.warnings ?? []) noteOnce(parts, warning)
  return config
}

async function open(parts: NativeParts, options: ServerOptions): Promise<McpServers | undefined> {
  const { root, env, clock, blobs } = parts
  const config = await checkedServers(parts, options)
  if (!config) return undefined
  const { openServers } = await import('./tools/mcp/remote-servers.ts')
  const keys = openKeys(parts)
  const secrets = {
    read: async (name: string) => (await keys.get(`mcp ${name}`, []))?.key,
    async write(name: string, value: string | undefined) {
      if (value === undefined) await keys.remove(`mcp ${name}`)
      else await keys.put(`mcp ${name}`, value)
    },
  }
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const browse = async (url: string) => {
    // The address comes from the server, so files and addresses of other programs are not opened.
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      throw new Error(`the login page ${url} is not opened, because it is not an http or https address`)
    await collect(opener, [url], { cwd: root, env: withoutModelKeys(env) })
  }
  let opened: McpServers | undefined
  opened = openServers(config, {
    ...{ root, env, clock, version, blobs, secrets, browse },
    changed: () => {
      if (opened) noteFaults(opened, parts)
      for (const tell of parts.state.mcp.changed) tell()
    },
    // The present settings and leash count, because a server is started again after it has exited.
    enclose: ({ own = false, unwalled }, argv, given) =>
      enclose({ argv, env: given, own, unwalled, git: 'read' }, parts.state.mcp.seat ?? options, parts),
  })
  return opened
}

/** Shows the person one note about each server that stopped, or that cannot be used until the person acts. */
function noteFaults(servers: McpServers, parts: NativeParts): void {
  for (const { name, state, why = 'it says nothing about the cause' } of servers.status().servers) {
    const words = {
      waiting: `The MCP server ${name} does not run: ${why}. It is started again by itself; /mcp shows its output.`,
      failed: `The MCP server ${name} is not started again: ${why}. Correct its configuration and type /mcp refresh.`,
      login: `The MCP server ${name} requires a login: type /mcp login ${name}.`,
    }[state as string]
    const key = `${name} ${state}`
    if (words === undefined || parts.state.notes.shown.has(key)) continue
    parts.state.notes.shown.add(key)
    parts.state.notes.waiting.push(words)
  }
}
