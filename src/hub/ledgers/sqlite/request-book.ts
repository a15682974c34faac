import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { HubRequestBook, KeptRequest } from '../../../core/work/hub-request.ts'
import type { RequestRow } from '../book-entries.ts'
import { inTransaction } from '../../../store/sqlite.ts'
import { named } from '../../../store/store-error.ts'
import { requestOf } from '../book-entries.ts'

/** The table of the requests that clients may send again. */
export const requestTables = `
  CREATE TABLE IF NOT EXISTS requests (
    name TEXT PRIMARY KEY, run TEXT NOT NULL, body TEXT NOT NULL, at REAL NOT NULL, answer TEXT
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS requests_at ON requests (at);
`

/** The hub's memory of requests in SQLite. Each change is one transaction without an await in it. */
export class SqliteRequestBook implements HubRequestBook {
  #db: DatabaseSync
  #path: string
  #sql: Record<'begin' | 'find' | 'answer' | 'forget' | 'sweep', StatementSync>

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
    this.#sql = {
      begin: db.prepare('INSERT OR IGNORE INTO requests (name, run, body, at) VALUES (?, ?, ?, ?)'),
      find: db.prepare('SELECT name, run, body, at, answer FROM requests WHERE name = ?'),
      answer: db.prepare('UPDATE requests SET answer = ? WHERE name = ?'),
      forget: db.prepare('DELETE FROM requests WHERE name = ? AND run = ? AND answer IS NULL'),
      sweep: db.prepare('DELETE FROM requests WHERE at < ?'),
    }
  }

  async begin({ name, run, body, at }: Omit<KeptRequest, 'answer'>, begunBefore: number): Promise<KeptRequest> {
    return this.#write(() => {
      this.#sql.sweep.run(begunBefore)
      this.#sql.begin.run(name, run, body, at)
      return requestOf(this.#sql.find.get(name) as RequestRow)
    })
  }

  async answer(name: string, answer: string): Promise<void> {
    this.#write(() => this.#sql.answer.run(answer, name))
  }

  async forget(name: string, run: string): Promise<void> {
    this.#write(() => this.#sql.forget.run(name, run))
  }

  #write<T>(work: () => T): T {
    return named('write', this.#path, () => inTransaction(this.#db, work))
  }
}
