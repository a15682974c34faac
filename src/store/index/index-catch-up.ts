import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../base/time/clock.ts'
import type { ImportedLog, Placed } from './index-rows.ts'
import { promises, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../../base/files/files.ts'
import { isEntry } from '../../core/talk/entry.ts'
import { linesOn, parseLine } from '../files/log-lines.ts'
import { LogReader } from '../files/log-reader.ts'
import { immediately } from '../sqlite.ts'
import { dropImported, dropProject, dropSession, keepEntries, keepImported } from './index-rows.ts'

/** How much of a log one step indexes: a larger step would delay the screen and other processes. */
const mostBytes = 512 * 1024
const markBytes = 64

type Known = { offset: number; mark: Uint8Array }
type Batch = { entries: Placed[]; end: number; mark: Buffer }

/** Indexes what was added to the logs; returns the number of new entries. */
export async function catchUp(db: DatabaseSync, home: string, clock: Clock): Promise<number> {
  const there = projects(home)
  const known = db.prepare('SELECT project FROM logs').all() as { project: string }[]
  let count = 0
  for (const project of new Set([...there, ...known.map((row) => row.project)])) {
    count += await takeIn(db, home, project, clock)
    count += await takeImports(db, home, project, clock)
    await keepNames(db, home, project, clock)
  }
  return count
}

async function takeIn(db: DatabaseSync, home: string, project: string, clock: Clock): Promise<number> {
  const source = await LogReader.open(join(home, 'projects', project, 'history.jsonl'))
  let count = 0
  try {
    for (;;) {
      const known = knownOf(db, project)
      const fits = known !== undefined && source !== undefined && (await isBefore(source, known))
      const batch = source && (await nextBatch(source, fits ? known.offset : 0))
      if (batch) await readSystemPrompts(batch, join(home, 'projects', project, 'output'))
      if (batch ? fits && batch.end === known.offset : !known) return count
      await immediately(db, clock, () => {
        // Another process may have indexed this part already; the next round then continues after it.
        if (knownOf(db, project)?.offset !== known?.offset) return
        if (known && !fits) dropProject(db, project)
        if (!batch) return
        keepEntries(db, project, batch.entries)
        db.prepare(
          'INSERT INTO logs (project, offset, mark) VALUES (?, ?, ?) ON CONFLICT (project) DO UPDATE SET offset = excluded.offset, mark = excluded.mark',
        ).run(project, batch.end, batch.mark)
        count += batch.entries.length
      })
    }
  } finally {
    await source?.close()
  }
}

/** Drops a session whose lines were erased from the log of its project. */
export async function dropErased(
  db: DatabaseSync,
  home: string,
  { project, session }: { project: string; session: string },
  clock: Clock,
): Promise<void> {
  const source = await LogReader.open(join(home, 'projects', project, 'history.jsonl'))
  try {
    const known = knownOf(db, project)
    const length = known?.mark.length ?? 0
    // The indexed part is still the beginning of the log, but its last bytes may have been erased.
    const mark = known && source && (await source.read(known.offset - length, length))
    await immediately(db, clock, () => {
      dropSession(db, session)
      if (known && mark)
        db.prepare('UPDATE logs SET mark = ? WHERE project = ? AND offset = ?').run(mark, project, known.offset)
    })
  } finally {
    await source?.close()
  }
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}

function knownOf(db: DatabaseSync, project: string): Known | undefined {
  return db.prepare('SELECT offset, mark FROM logs WHERE project = ?').get(project) as Known | undefined
}

/** Whether the indexed part is the beginning of this log: the bytes before the offset are unchanged. */
async function isBefore(source: LogReader, { offset, mark }: Known): Promise<boolean> {
  return offset <= (await source.size()) && (await source.read(offset - mark.length, mark.length)).equals(mark)
}

async function nextBatch(source: LogReader, from: number): Promise<Batch> {
  const entries: Placed[] = []
  let end = from
  for await (const lines of linesOn(source.read, from, await source.size())) {
    for (const line of lines) {
      // A line without a newline is still being written.
      if (line.open || end - from >= mostBytes) break
      const ends = line.at + line.bytes.length + 1
      for (const { at, item } of parseLine(line)) if (isEntry(item)) entries.push({ entry: item, begins: at, ends })
      end = ends
    }
    if (end - from >= mostBytes) break
  }
  const start = Math.max(0, end - markBytes)
  return { entries, end, mark: await source.read(start, end - start) }
}

/** Reads the system prompts of the frames in a batch; a missing one is left out. */
async function readSystemPrompts({ entries }: Batch, bodies: string): Promise<void> {
  for (const placed of entries) {
    if (placed.entry.type !== 'frame') continue
    try {
      const { frame } = JSON.parse(await promises.readFile(join(bodies, placed.entry.ref.sha), 'utf8'))
      if (typeof frame.system === 'string') placed.system = frame.system
    } catch {
      // The conversation can also be found without the system prompt.
    }
  }
}

/** Indexes the new imported sessions of a project, and drops those that no longer exist. The log of an imported session never changes. */
async function takeImports(db: DatabaseSync, home: string, project: string, clock: Clock): Promise<number> {
  const wanted = importsIn(join(home, 'projects', project, 'imported.json'))
  const known = db.prepare('SELECT id, log FROM sessions WHERE project = ? AND log IS NOT NULL').all(project)
  if (wanted.length === 0 && known.length === 0) return 0
  const logs = new Set(wanted.map(({ log }) => log))
  const gone = known.filter(({ log }) => !logs.has(String(log))).map(({ id }) => String(id))
  if (gone.length > 0) await immediately(db, clock, () => dropImported(db, gone))
  const there = new Set(known.map(({ log }) => String(log)))
  let count = 0
  for (const one of wanted.filter(({ log }) => !there.has(log))) {
    const entries = await importedEntries(join(home, 'projects', project, 'imported', `${one.log}.jsonl`))
    await immediately(db, clock, () => {
      // In the meantime, another process may have indexed the session.
      if (entries.length === 0 || db.prepare('SELECT 1 FROM sessions WHERE id = ?').get(one.session)) return
      keepImported(db, project, one, entries)
      count += entries.length
    })
  }
  return count
}

async function importedEntries(path: string): Promise<Placed[]> {
  const source = await LogReader.open(path)
  if (!source) return []
  const entries: Placed[] = []
  try {
    for await (const lines of linesOn(source.read, 0, await source.size()))
      for (const line of lines) {
        const ends = line.at + line.bytes.length + 1
        for (const { at, item } of parseLine(line)) if (isEntry(item)) entries.push({ entry: item, begins: at, ends })
      }
    return entries
  } finally {
    await source.close()
  }
}

/**
 * Reads which sessions were imported into a project. An unreadable document counts as empty, so that the index does not fail because of
 * it.
 */
function importsIn(path: string): ImportedLog[] {
  try {
    const doc = JSON.parse(readFileSync(path, 'utf8')) as {
      path?: unknown
      sessions?: Record<string, { cli?: unknown; log?: unknown; continued?: unknown }>
    }
    return Object.entries(doc.sessions ?? {}).flatMap(([session, one]) =>
      // The turns of a session that was continued are in the project's log.
      typeof one?.log === 'string' && /^[\w-]+$/.test(one.log) && one.continued === undefined
        ? [{ session, log: one.log, cli: String(one.cli), path: String(doc.path) }]
        : [],
    )
  } catch {
    return []
  }
}

function projects(home: string): string[] {
  try {
    const found = readdirSync(join(home, 'projects'), { withFileTypes: true })
    return found.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

type Named = { path: string | null; names: Map<string, string> }

/** Indexes the real path of a project and the names of its sessions; writes only changed values. */
async function keepNames(db: DatabaseSync, home: string, project: string, clock: Clock): Promise<void> {
  const { path, names } = readNames(join(home, 'projects', project, 'project.json'))
  const log = db.prepare('SELECT path FROM logs WHERE project = ?').get(project)
  const sessions = db.prepare('SELECT id, name FROM sessions WHERE project = ?').all(project)
  const renamed = sessions.filter(({ id, name }) => name !== (names.get(String(id)) ?? null))
  const moved = log !== undefined && log.path !== path
  if (!moved && renamed.length === 0) return
  await immediately(db, clock, () => {
    db.prepare('UPDATE logs SET path = ? WHERE project = ?').run(path, project)
    const rename = db.prepare('UPDATE sessions SET name = ? WHERE id = ?')
    for (const { id } of renamed) rename.run(names.get(String(id)) ?? null, id!)
  })
}

/** Reads the project's document. An unreadable one counts as empty, so that the index does not fail because of it. */
function readNames(path: string): Named {
  try {
    const doc = JSON.parse(readFileSync(path, 'utf8')) as {
      path?: unknown
      sessions?: Record<string, { name?: unknown }>
    }
    const named = Object.entries(doc.sessions ?? {}).flatMap(([id, session]) =>
      typeof session?.name === 'string' ? [[id, session.name] as const] : [],
    )
    return { path: typeof doc.path === 'string' ? doc.path : null, names: new Map(named) }
  } catch {
    return { path: null, names: new Map() }
  }
}
