import type { ServerStart } from '../../core/profile/profile.ts'
import type { Client, Whereabouts } from './clients.ts'
import type { ConfigFile } from '../mcp-config/config-file.ts'
import { rmSync, existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { backupOf, keepBackup, readBackup, writeConfig, readConfig } from '../mcp-config/config-file.ts'
import { homedir } from 'node:os'
import { atHub, clients } from './clients.ts'
import { UnusableConfig } from '../mcp-config/config-format.ts'

/** `yes`: changes are made without asking. `dry`: changes are only shown. */
export type Consent = { yes: boolean; dry: boolean }

/** A change of a client's settings file; without `after` the file is deleted. */
export type Change = { kind: 'install' | 'remove'; file: ConfigFile; after: string | undefined }

/** Plans to write our entry; undefined if it exists already. */
export function planInstall({ format, path, entry }: Client, file: ConfigFile, start: ServerStart): Change | undefined {
  const wanted = entry(start)
  if (isDeepStrictEqual(format.find(file.text, path), wanted)) return undefined
  return { kind: 'install', file, after: format.put(file.text, path, wanted) }
}

/**
 * Plans to remove our entry; undefined if the file does not have it. If nothing else has changed since, the file is restored byte for
 * byte.
 */
export function planRemoval({ format, path }: Client, file: ConfigFile): Change | undefined {
  const entry = format.find(file.text, path)
  if (entry === undefined) return undefined
  const made = (from: string) => format.put(from, path, entry) === file.text
  const before = readBackup(file)
  const untouched = before !== undefined && format.find(before, path) === undefined && made(before)
  if (untouched) return { kind: 'remove', file, after: before }
  if (before === undefined && made('')) return { kind: 'remove', file, after: undefined }
  return { kind: 'remove', file, after: format.take(file.text, path) }
}

/** Writes a planned change, with a backup of the file as it was before our first change. */
export function carryOut({ kind, file, after }: Change): void {
  if (kind === 'install') keepBackup(file)
  writeConfig(file, after)
  if (kind === 'remove') rmSync(backupOf(file), { force: true })
}

export function whereabouts(env: Record<string, string | undefined>): Whereabouts {
  return { home: env.HOME || homedir(), env, platform: process.platform }
}

/** An entry of ours in another program's settings. */
export type OwnEntry = { client: Client; file: ConfigFile; backup?: string }

/** Finds every entry of ours: for our tools, and for the hub's. */
export function ownEntries(where: Whereabouts): OwnEntry[] {
  return [...wiredClients(where), ...wiredClients(where, clients.map(atHub))]
}

/** Finds the clients that have our entry, by reading their settings files. */
export function wiredClients(where: Whereabouts, known: readonly Client[] = clients): OwnEntry[] {
  return known.flatMap((client) => {
    try {
      const file = readConfig(client.file(where), where.home)
      if (client.format.find(file.text, client.path) === undefined) return []
      const backup = backupOf(file)
      return [{ client, file, backup: existsSync(backup) ? backup : undefined }]
    } catch (error) {
      // We did not write a file that we cannot read.
      if (error instanceof UnusableConfig) return []
      throw error
    }
  })
}
