import type { DatabaseSync } from 'node:sqlite'
import type { Entry } from '../../core/talk/entry.ts'
import { join } from 'node:path'
import { isEntry } from '../../core/talk/entry.ts'
import { linesOn, parseLine } from '../files/log-lines.ts'
import { LogReader } from '../files/log-reader.ts'

/** A session. `path` is the project's real path; `first` is the beginning of the first prompt; `begins` and `ends` are positions in the log. */
export type Session = {
  id: string
  project: string
  path?: string
  name?: string
  started: number
  last: number
  turns: number
  first?: string
  begins: number
  ends: number
  /** Set for a session that was imported from another CLI and is only read: the CLI, and the name of its own log. */
  cli?: string
  log?: string
}

export type Message = { role: 'user' | 'assistant'; by: string; text: string; at: number }

/** One tool call; `ok` is missing if the call has no result. */
export type Trace = {
  turn: string
  call: string
  tool: string
  by: string
  at: number
  input?: string
  ok?: boolean
  output?: string
  ms?: number
}

/** A project: the agents that answered in it, the size of its log, and the beginning of the newest answer. */
export type IndexedProject = {
  slug: string
  path?: string
  agents: string[]
  bytes: number
  last: number
  words?: { by: string; text: string }
}

const longestWords = 500

/** Lists the projects that have a conversation, the most recently used first. */
export function indexedProjects(db: DatabaseSync): IndexedProject[] {
  const agents = db.prepare('SELECT DISTINCT by FROM turns WHERE project = ? AND by IS NOT NULL ORDER BY by')
  const words = db.prepare(
    `SELECT by, substr(text, 1, ${longestWords}) AS text FROM entries
     WHERE project = ? AND type IN ('reply', 'words') ORDER BY seq DESC LIMIT 1`,
  )
  const rows = db
    .prepare(
      `SELECT l.project AS slug, l.path, l.offset AS bytes, max(s.last) AS last
       FROM logs l JOIN sessions s ON s.project = l.project GROUP BY l.project ORDER BY last DESC, slug`,
    )
    .all()
  return rows.map((row) => {
    const said = words.get(row.slug!)
    return {
      ...(present(row) as Pick<IndexedProject, 'slug' | 'path' | 'bytes' | 'last'>),
      agents: agents.all(row.slug!).map(({ by }) => String(by)),
      ...(said ? { words: { by: String(said.by), text: String(said.text) } } : undefined),
    }
  })
}

const columns = `
  SELECT s.id, s.project, coalesce(l.path, s.path) AS path, s.name, s.started, s.last, s.turns, s.first, s.begins, s.ends,
    s.cli, s.log
  FROM sessions s LEFT JOIN logs l ON l.project = s.project
`

/** Lists sessions, the most recently used first. */
export function sessions(db: DatabaseSync, project: string | undefined): Session[] {
  const rows = db
    .prepare(`${columns} WHERE :project IS NULL OR s.project = :project ORDER BY s.last DESC, s.id DESC`)
    .all({ project: project ?? null })
  return rows.map((row) => present(row) as Session)
}

/** The agents that answered in each session, by its id. */
export function agentsBySession(db: DatabaseSync, project: string | undefined): Map<string, string[]> {
  const rows = db
    .prepare(
      `SELECT DISTINCT session, by FROM turns WHERE by IS NOT NULL AND (:project IS NULL OR project = :project)
       ORDER BY session, by`,
    )
    .all({ project: project ?? null })
  const agents = new Map<string, string[]>()
  for (const { session, by } of rows) agents.set(String(session), [...(agents.get(String(session)) ?? []), String(by)])
  return agents
}

/** A session without its messages, which may be long. */
export function sessionRow(db: DatabaseSync, id: string): Session | undefined {
  const row = db.prepare(`${columns} WHERE s.id = ?`).get(id)
  return row && (present(row) as Session)
}

const messageTypes = "('prompt', 'steer', 'reply', 'words', 'output')"

/** The places of a session's messages or tool calls in the index, in order; the rows themselves may be long. */
export function placesOf(db: DatabaseSync, session: string, what: 'messages' | 'calls'): number[] {
  const types = what === 'messages' ? messageTypes : "('call')"
  const rows = db.prepare(`SELECT seq FROM entries WHERE session = ? AND type IN ${types} ORDER BY seq`).all(session)
  return rows.map(({ seq }) => Number(seq))
}

const message = `
  SELECT iif(type IN ('reply', 'words'), 'assistant', 'user') AS role, by, text, at FROM entries WHERE seq = ?
`

export function messagesAt(db: DatabaseSync, places: readonly number[]): Message[] {
  const one = db.prepare(message)
  return places.flatMap((place) => {
    const row = one.get(place)
    return row ? [{ ...row } as Message] : []
  })
}

const call = `
  SELECT c.turn, c.call, c.tool, c.by, c.at, c.text AS input, r.ok, r.text AS output, max(0, r.at - c.at) AS ms
  FROM entries c LEFT JOIN entries r ON r.seq = (
    SELECT min(seq) FROM entries
    WHERE session = c.session AND turn = c.turn AND call = c.call AND type IN ('result', 'output') AND seq > c.seq
  )
  WHERE c.seq = ?
`

export function callsAt(db: DatabaseSync, places: readonly number[]): Trace[] {
  const one = db.prepare(call)
  return places.flatMap((place) => {
    const row = one.get(place)
    const trace = row && present(row)
    return trace ? [('ok' in trace ? { ...trace, ok: trace.ok === 1 } : trace) as Trace] : []
  })
}

/** Leaves out the columns that are null. */
function present(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

/** Reads a session's entries one by one from its part of the log, because the index only contains searchable text. */
export async function* entriesOf(home: string, session: Session | undefined): AsyncGenerator<Entry> {
  const name = session?.log === undefined ? 'history' : join('imported', session.log)
  const source = session && (await LogReader.open(join(home, 'projects', session.project, `${name}.jsonl`)))
  if (!source) return
  try {
    for await (const lines of linesOn(source.read, session.begins, session.ends))
      for (const { item } of lines.flatMap((line) => parseLine(line)))
        if (isEntry(item) && item.session === session.id) yield item
  } finally {
    await source.close()
  }
}
