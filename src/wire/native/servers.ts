import type { Servers } from '../../tools/mcp/servers.ts'
import type { NativeParts } from './parts.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { collect } from '../../base/collect.ts'
import { openKeys } from '../../safety/keys.ts'
import { version } from '../version.ts'

const files = ['.mcp.json', 'termaite.mcp.yaml', 'terminus.mcp.yaml']

export type ServerWishes = { settings: Record<string, unknown>; trusted: boolean; after: Promise<unknown> }

/** The MCP servers of this run, started once; undefined when none is configured, and then nothing of it is loaded. */
export function serversOf(parts: NativeParts, wishes: ServerWishes): Promise<Servers | undefined> {
  return (parts.lasting.servers ??= open(parts, wishes))
}

async function open(parts: NativeParts, { settings, trusted, after }: ServerWishes): Promise<Servers | undefined> {
  const { root, home, env, clock, blobs } = parts
  const own = Object.keys(settings).length > 0
  if (!own && !(trusted && files.some((file) => existsSync(join(root, file))))) return undefined
  const [{ readServers }, { openServers }] = await Promise.all([
    import('../../tools/mcp/read.ts'),
    import('../../tools/mcp/servers.ts'),
  ])
  const config = await readServers({ root, home: env.HOME ?? home, env, trusted, settings })
  if (config.servers.length === 0) return undefined
  const keys = openKeys({ home, env })
  const secrets = {
    read: async (name: string) => (await keys.get(`mcp ${name}`, []))?.key,
    write: async (name: string, value: string | undefined) =>
      void (value === undefined ? await keys.remove(`mcp ${name}`) : await keys.put(`mcp ${name}`, value)),
  }
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const browse = async (url: string) => void (await collect(opener, [url], { cwd: root, env }))
  return openServers(config, { root, env, clock, version, blobs, secrets, browse, after })
}
