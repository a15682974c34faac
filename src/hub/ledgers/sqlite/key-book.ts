import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { HubKey, HubKeyBook } from '../../model/access/hub-key.ts'
import type { KeyRow } from '../book-entries.ts'
import { inTransaction } from '../../../store/sqlite.ts'
import { named } from '../../../store/store-error.ts'
import { keyOf } from '../book-entries.ts'

/** The tables of the keys, which are in the hub's ledger. */
export const keyTables = `
  CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, hash TEXT NOT NULL UNIQUE,
    made INTEGER NOT NULL, key TEXT NOT NULL, used INTEGER
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS old_secrets (hash TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE) WITHOUT ROWID;
`

/** The hub's keys in SQLite. Each change is one transaction without an await in it. */
export class SqliteKeyBook implements HubKeyBook {
  #db: DatabaseSync
  #path: string
  #put: Record<
    'all' | 'byHash' | 'taken' | 'insert' | 'replaced' | 'remove' | 'used' | 'insertOld' | 'removeOld',
    StatementSync
  >

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
    this.#put = {
      all: db.prepare('SELECT key, used FROM keys ORDER BY made, id'),
      byHash: db.prepare(
        'SELECT key, used FROM keys WHERE hash = ? OR id = (SELECT key FROM old_secrets WHERE hash = ?)',
      ),
      taken: db.prepare('SELECT 1 FROM keys WHERE name = ?'),
      insert: db.prepare('INSERT INTO keys (id, name, hash, made, key, used) VALUES (?, ?, ?, ?, ?, ?)'),
      replaced: db.prepare('DELETE FROM keys WHERE id = ? AND hash = ?'),
      remove: db.prepare('DELETE FROM keys WHERE id = ?'),
      used: db.prepare('UPDATE keys SET used = ? WHERE id = ?'),
      insertOld: db.prepare('INSERT INTO old_secrets (hash, key) VALUES (?, ?)'),
      removeOld: db.prepare('DELETE FROM old_secrets WHERE key = ?'),
    }
  }

  async all(): Promise<HubKey[]> {
    const rows = named('read', this.#path, () => this.#put.all.all()) as KeyRow[]
    return rows.map(keyOf)
  }

  async withHash(hash: string): Promise<HubKey | undefined> {
    const row = named('read', this.#path, () => this.#put.byHash.get(hash, hash)) as KeyRow | undefined
    return row && keyOf(row)
  }

  async put(key: HubKey, instead?: Pick<HubKey, 'id' | 'hash'>): Promise<boolean> {
    const { taken, insert, replaced, insertOld, removeOld } = this.#put
    const { used, ...rest } = key
    return this.#write(() => {
      if (instead && replaced.run(instead.id, instead.hash).changes === 0) return false
      if (instead) removeOld.run(instead.id)
      if (taken.get(key.name)) return false
      insert.run(key.id, key.name, key.hash, key.made, JSON.stringify(rest), used ?? null)
      if (key.old) insertOld.run(key.old.hash, key.id)
      return true
    })
  }

  async remove(id: string): Promise<boolean> {
    return this.#write(() => {
      this.#put.removeOld.run(id)
      return this.#put.remove.run(id).changes > 0
    })
  }

  async markUsed(id: string, at: number): Promise<void> {
    named('write', this.#path, () => this.#put.used.run(at, id))
  }

  #write(work: () => boolean): boolean {
    return named('write', this.#path, () => inTransaction(this.#db, work))
  }
}
