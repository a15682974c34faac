import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Entry } from '../../core/talk/entry.ts'
import { cutWords } from '../../core/talk/shown-words.ts'
import { isPersonCommand } from '../../core/talk/entry.ts'
import { turnRows } from './turn-results.ts'

/** An entry and the position of its line in the log; `system` is the system prompt of a frame. */
export type Placed = { entry: Entry; begins: number; ends: number; system?: string }

const longestFirst = 200

/** How long an agent counts as out of quota if its provider named no time: the rotation first waits this long. */
const unknownParkMs = 3_600_000

const insertEntry =
  'INSERT INTO entries (project, session, turn, id, at, by, type, text, call, tool, ok) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'

function keepEntry(into: StatementSync, project: string, entry: Entry, text: string | null): number | bigint {
  const { session, turn, id, at, by, type } = entry
  const { call, tool, ok } = toolColumns(entry)
  // The text of an agent that was only consulted can be found, but is not part of the session's messages. The output of a command that
  // the person ran with "!" is one of the session's messages.
  const kind = entry.type === 'words' && entry.from ? 'consulted' : isOutput(entry) ? 'output' : type
  return into.run(project, session, turn, id, at, by, kind, text, call, tool, ok).lastInsertRowid
}

/** Inserts entries of one project. Runs inside a transaction. */
export function keepEntries(db: DatabaseSync, project: string, all: readonly Placed[]): void {
  const intoEntries = db.prepare(insertEntry)
  const intoUsage = db.prepare('INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const intoVerdicts = db.prepare('INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const intoParkings = db.prepare('INSERT INTO parkings VALUES (?, ?, ?, ?)')
  const turns = turnRows(db, project)
  const intoSessions = db.prepare(`
    INSERT INTO sessions (id, project, started, last, turns, first, begins, ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
      started = min(started, excluded.started),
      last = max(last, excluded.last),
      turns = turns + excluded.turns,
      first = coalesce(first, excluded.first),
      ends = max(ends, excluded.ends)
  `)
  const intoSystem = db.prepare('INSERT INTO system_prompts (seq, text) VALUES (?, ?)')
  for (const { entry, begins, ends, system } of all) {
    const { session, turn, at, by, type } = entry
    const text = searchedText(entry)
    const seq = keepEntry(intoEntries, project, entry, text)
    if (system !== undefined) intoSystem.run(seq, system)
    if (entry.type === 'usage') {
      const { input, output, cached, cost, source } = entry
      intoUsage.run(
        project,
        session,
        turn,
        at,
        by,
        input ?? 0,
        output ?? 0,
        cached ?? 0,
        cost ?? null,
        source ?? 'estimated',
      )
    }
    if (entry.type === 'verdict') {
      const { framework, why, calls, ms } = entry
      intoVerdicts.run(session, turn, project, at, by, framework ?? '', why ?? '', calls ?? 0, ms ?? 0)
    }
    if (entry.type === 'attempt' && entry.failure?.kind === 'quota')
      intoParkings.run(project, at, by, Math.max(at, entry.failure.retryAt ?? at + unknownParkMs))
    turns.keep(entry)
    const asked = type === 'prompt' ? 1 : 0
    intoSessions.run(
      session,
      project,
      at,
      at,
      asked,
      asked ? (text?.slice(0, longestFirst) ?? null) : null,
      begins,
      ends,
    )
  }
}

/** An imported session: the name of its log in the folder `imported`, the CLI that it comes from, and the folder of its project. */
export type ImportedLog = { session: string; log: string; cli: string; path: string }

/**
 * Inserts the entries of an imported session. It can be found and read like any other; its turns and tokens are not counted, because
 * termaite did not run them. Runs inside a transaction.
 */
export function keepImported(db: DatabaseSync, project: string, from: ImportedLog, all: readonly Placed[]): void {
  const into = db.prepare(insertEntry)
  const own = all.filter(({ entry }) => entry.session === from.session)
  for (const { entry } of own) keepEntry(into, project, entry, searchedText(entry))
  const times = own.map(({ entry }) => entry.at)
  const prompts = own.flatMap(({ entry }) => (entry.type === 'prompt' ? [entry.text] : []))
  db.prepare(
    `INSERT INTO sessions (id, project, started, last, turns, first, begins, ends, log, cli, path)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    from.session,
    project,
    times[0] ?? 0,
    times.at(-1) ?? 0,
    prompts.length,
    prompts[0]?.slice(0, longestFirst) ?? null,
    0,
    all.at(-1)?.ends ?? 0,
    from.log,
    from.cli,
    from.path,
  )
}

/** Removes imported sessions in the same way as `dropProject` removes a project. */
export function dropImported(db: DatabaseSync, sessions: readonly string[]): void {
  overwriting(db, () => {
    for (const session of sessions) {
      db.prepare('DELETE FROM entries WHERE session = ?').run(session)
      db.prepare('DELETE FROM sessions WHERE id = ?').run(session)
    }
  })
}

/** Removes a session of ours as `dropProject` removes a project. */
export function dropSession(db: DatabaseSync, session: string): void {
  overwriting(db, () => {
    db.prepare(
      'DELETE FROM judgements WHERE (project, turn) IN (SELECT project, turn FROM turns WHERE session = ?)',
    ).run(session)
    for (const table of ['entries', 'usage', 'verdicts', 'turns'])
      db.prepare(`DELETE FROM ${table} WHERE session = ?`).run(session)
    db.prepare('DELETE FROM sessions WHERE id = ?').run(session)
  })
}

/** Dropped entries are overwritten on disk and removed from the search, because a person may have dropped them to remove a secret. */
export function dropProject(db: DatabaseSync, project: string): void {
  overwriting(db, () => {
    for (const table of ['entries', 'usage', 'verdicts', 'turns', 'judgements', 'parkings', 'sessions', 'logs'])
      db.prepare(`DELETE FROM ${table} WHERE project = ?`).run(project)
  })
}

function overwriting(db: DatabaseSync, drop: () => void): void {
  db.exec('PRAGMA secure_delete = ON')
  try {
    drop()
    db.exec("INSERT INTO words (words) VALUES ('optimize')")
  } finally {
    // If it stayed on, secure_delete would make every later write slower by a quarter.
    db.exec('PRAGMA secure_delete = OFF')
  }
}

const isOutput = (entry: Entry) => entry.type === 'result' && isPersonCommand(entry)

/** Returns the text by which an entry can be found. Entries of another version may lack any field. */
function searchedText(entry: Entry): string | null {
  switch (entry.type) {
    case 'call':
      return typeof entry.input === 'string' ? entry.input : (JSON.stringify(entry.input) ?? null)
    case 'attempt':
      return lines(`${entry.failure?.kind}: ${entry.failure?.message}`, entry.did?.lastWords)
    case 'words':
      return lines(entry.text, entry.cut && `(${cutWords[entry.cut]})`)
    case 'question':
      return lines(entry.question?.text)
    case 'judgement':
      return lines(entry.why)
    case 'end':
      // A successful end only repeats the reply.
      return entry.outcome?.ok === false ? lines(entry.outcome.failure?.message) : null
    default:
      return 'text' in entry ? lines(entry.text) : null
  }
}

/** Returns the columns that only calls and results have; the key of a thread is also stored in the column of calls. */
function toolColumns(entry: Entry): { call: string | null; tool: string | null; ok: number | null } {
  if (entry.type === 'thread') return { call: String(entry.key), tool: null, ok: null }
  if (entry.type === 'call') return { call: String(entry.call), tool: String(entry.tool), ok: null }
  if (entry.type === 'result') return { call: String(entry.call), tool: null, ok: entry.ok ? 1 : 0 }
  return { call: null, tool: null, ok: null }
}

function lines(...parts: unknown[]): string | null {
  const found = parts.filter((part): part is string => typeof part === 'string' && part !== '')
  return found.length === 0 ? null : found.join('\n')
}
