import type { ServerStart } from '../../core/work/profile.ts'
import type { Client } from './clients.ts'
import type { ConfigFile } from '../../mcp-config/file.ts'
import { rmSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { backupOf, keepBackup, readBackup, writeConfig } from '../../mcp-config/file.ts'

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
