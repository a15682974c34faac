import type { Client, Whereabouts } from './clients.ts'
import type { ConfigFile } from '../../mcp-config/file.ts'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { atHub, clients } from './clients.ts'
import { backupOf, readConfig } from '../../mcp-config/file.ts'
import { Unfit } from '../../mcp-config/format.ts'

export function whereabouts(env: Record<string, string | undefined>): Whereabouts {
  return { home: env.HOME || homedir(), env, platform: process.platform }
}

/** An entry of ours in another program's settings. */
export type Wired = { client: Client; file: ConfigFile; backup?: string }

/** Every entry of ours that stands somewhere: our tools', and the hub's. */
export function wiredEntries(where: Whereabouts): Wired[] {
  return [...wiredClients(where), ...wiredClients(where, clients.map(atHub))]
}

/** Who knows our tools: the files themselves are asked, so that none is forgotten. */
export function wiredClients(where: Whereabouts, known: readonly Client[] = clients): Wired[] {
  return known.flatMap((client) => {
    try {
      const file = readConfig(client.file(where), where.home)
      if (client.format.find(file.text, client.path) === undefined) return []
      const backup = backupOf(file)
      return [{ client, file, ...(existsSync(backup) ? { backup } : {}) }]
    } catch (error) {
      // One that cannot be read by us was not written by us.
      if (error instanceof Unfit) return []
      throw error
    }
  })
}
