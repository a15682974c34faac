import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

type Rows = Record<'session' | 'message' | 'part', Record<string, string | number | null>[]>

/** Makes a database of OpenCode from the recorded rows; `project` is the folder in place of the recorded one. */
export function opencodeDatabase(path: string, project = '/rig/project'): DatabaseSync {
  const text = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'journals', 'opencode.json'), 'utf8')
  const db = new DatabaseSync(path)
  for (const [table, rows] of Object.entries(JSON.parse(text.replaceAll('/rig/project', project)) as Rows)) {
    const columns = Object.keys(rows[0]!)
    db.exec(`CREATE TABLE ${table} (${columns.join(', ')})`)
    const into = db.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`)
    for (const row of rows) into.run(...columns.map((column) => row[column]!))
  }
  return db
}
