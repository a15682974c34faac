import type { Profile } from '../../core/profile/profile.ts'
import type { CliHome, PastFact, PastSessions } from '../../core/profile/past-session.ts'
import type { Limits, Unread } from './record-lines.ts'
import { lstatSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { recordsOf } from './record-lines.ts'

/** One session of a CLI in the CLI's own storage: a file, or with `row` the session of that name in a database. */
export type SessionFile = {
  cli: string
  path: string
  /** The path below the folder of all sessions, or the name of the database row. */
  name: string
  row?: true
  bytes: number
  changed: number
  /** The file of a subagent: only its tokens are counted. */
  inner?: true
}

/** A profile whose CLI's own sessions can be read. */
export type PastProfile = Profile & { past: PastSessions }

export const hasPast = (profile: Profile): profile is PastProfile => profile.past !== undefined

/** No CLI stores its sessions deeper below its folder than this. */
const deepest = 5

/** Finds the session files of one CLI, oldest first; empty if the CLI was never used. */
export async function sessionFiles(profile: PastProfile, place: CliHome): Promise<SessionFile[]> {
  const { name: cli, past } = profile
  if ('database' in past) return rowsOf(cli, past, place)
  const folder = past.folder(place)
  const found: SessionFile[] = []
  for await (const name of namesBelow(folder, '', deepest)) {
    const inner = past.inner?.test(name) === true
    if (!inner && !past.file.test(name)) continue
    const path = join(folder, name)
    const stat = await lstat(path).catch(() => undefined)
    if (!stat?.isFile()) continue
    const facts = { cli, path, name, bytes: stat.size, changed: Math.floor(stat.mtimeMs) }
    found.push(inner ? { ...facts, inner } : facts)
  }
  return found.sort((a, b) => a.changed - b.changed || (a.name < b.name ? -1 : 1))
}

async function* namesBelow(folder: string, below: string, depth: number): AsyncGenerator<string> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    // Links are skipped: they may lead out of the folder, or in a circle.
    if (entry.isFile()) yield name
    else if (entry.isDirectory() && depth > 1) yield* namesBelow(folder, name, depth - 1)
  }
}

type InDatabase = Extract<PastSessions, { database: unknown }>

async function openPast(path: string) {
  const { DatabaseSync } = await import('node:sqlite')
  return new DatabaseSync(path, { readOnly: true })
}

async function rowsOf(cli: string, past: InDatabase, place: CliHome): Promise<SessionFile[]> {
  const path = past.database(place)
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return []
  const db = await openPast(path)
  try {
    return db
      .prepare(past.sessions)
      .all()
      .map(({ session, bytes, changed, inner }) => ({
        cli,
        path,
        name: String(session),
        row: true as const,
        bytes: Number(bytes),
        changed: Number(changed),
        ...(inner === 1 ? { inner: true as const } : {}),
      }))
  } finally {
    db.close()
  }
}

/** Reads the facts of a session, from its beginning to its end. */
export async function* pastFacts(
  { past }: PastProfile,
  file: SessionFile,
  unread: Unread,
  limits?: Limits,
): AsyncGenerator<PastFact> {
  const read = past.reader(file.name)
  const records = 'database' in past ? recordsIn(past, file) : recordsOf(file.path, unread, limits)
  for await (const record of records) {
    let facts: PastFact[]
    try {
      facts = read(record)
    } catch {
      // A record of an unknown form is lost, but the rest of the session is not.
      unread.broken++
      continue
    }
    yield* facts
  }
}

async function* recordsIn(past: InDatabase, { path, name }: SessionFile): AsyncGenerator<Record<string, unknown>> {
  const db = await openPast(path)
  try {
    yield* db.prepare(past.records).iterate({ session: name })
  } finally {
    db.close()
  }
}
