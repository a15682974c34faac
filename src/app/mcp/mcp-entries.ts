import type { ServerStart } from '../../core/work/profile.ts'
import type { Client, Whereabouts } from './clients.ts'
import type { ConfigFile } from '../../mcp-config/config-file.ts'
import { rmSync, existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { backupOf, keepBackup, readBackup, writeConfig, readConfig } from '../../mcp-config/config-file.ts'
import { homedir } from 'node:os'
import { atHub, clients } from './clients.ts'
import { Unfit } from '../../mcp-config/config-format.ts'

/** `yes`: changes are made without asking. `dry`: changes are shown, and none is made. */
export type Consent = { yes: boolean; dry: boolean }

/** What would be done to a client's settings; `after` undefined takes the file away. */
export type Change = { kind: 'install' | 'remove'; file: ConfigFile; after: string | undefined }

/** Undefined when our entry stands there already, as it should. */
export function installing({ format, path, entry }: Client, file: ConfigFile, start: ServerStart): Change | undefined {
  const wanted = entry(start)
  if (isDeepStrictEqual(format.find(file.text, path), wanted)) return undefined
  return { kind: 'install', file, after: format.put(file.text, path, wanted) }
}

/** Undefined when there is nothing of ours. Where nothing else was changed since, every byte is as it was before. */
export function removing({ format, path }: Client, file: ConfigFile): Change | undefined {
  const entry = format.find(file.text, path)
  if (entry === undefined) return undefined
  const made = (from: string) => format.put(from, path, entry) === file.text
  const before = readBackup(file)
  const untouched = before !== undefined && format.find(before, path) === undefined && made(before)
  if (untouched) return { kind: 'remove', file, after: before }
  if (before === undefined && made('')) return { kind: 'remove', file, after: undefined }
  return { kind: 'remove', file, after: format.take(file.text, path) }
}

export function carryOut({ kind, file, after }: Change): void {
  if (kind === 'install') keepBackup(file)
  writeConfig(file, after)
  if (kind === 'remove') rmSync(backupOf(file), { force: true })
}

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
