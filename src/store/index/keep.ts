import type { DatabaseSync } from 'node:sqlite'
import type { Entry } from '../../core/talk/entry.ts'
import { hasFailed, judged, searchedText, toolColumns } from './row.ts'

/** An entry and where its line lies in the log. */
export type Placed = { entry: Entry; begins: number; ends: number }

const longestFirst = 200

/** Puts entries of one project into the tables. Runs inside a transaction. */
export function keepEntries(db: DatabaseSync, project: string, all: readonly Placed[]): void {
  const intoEntries = db.prepare(
    'INSERT INTO entries (project, session, turn, id, at, by, type, text, call, tool, ok) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const intoUsage = db.prepare('INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  // A turn has one: whoever thought about all of it says so last.
  const intoVerdicts = db.prepare('INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const failVerdict = db.prepare("UPDATE verdicts SET outcome = 'failed' WHERE session = ? AND turn = ?")
  const intoSessions = db.prepare(`
    INSERT INTO sessions (id, project, started, last, turns, first, begins, ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
      started = min(started, excluded.started),
      last = max(last, excluded.last),
      turns = turns + excluded.turns,
      first = coalesce(first, excluded.first),
      ends = max(ends, excluded.ends)
  `)
  for (const { entry, begins, ends } of all) {
    const { session, turn, id, at, by, type } = entry
    const text = searchedText(entry)
    const { call, tool, ok } = toolColumns(entry)
    intoEntries.run(project, session, turn, id, at, by, type, text, call, tool, ok)
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
      intoVerdicts.run(session, turn, project, at, by, framework ?? '', why ?? '', calls ?? 0, ms ?? 0, judged(entry))
    }
    if (entry.type === 'end' && hasFailed(entry)) failVerdict.run(session, turn)
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

/** What is dropped is overwritten, and its words are taken out of the search too: it may have been dropped for a reason. */
export function dropProject(db: DatabaseSync, project: string): void {
  db.exec('PRAGMA secure_delete = ON')
  try {
    for (const table of ['entries', 'usage', 'verdicts', 'sessions', 'logs'])
      db.prepare(`DELETE FROM ${table} WHERE project = ?`).run(project)
    db.exec("INSERT INTO words (words) VALUES ('optimize')")
  } finally {
    // It would make every later write slower by a quarter.
    db.exec('PRAGMA secure_delete = OFF')
  }
}
