import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { HubInvite, HubInviteBook } from '../../model/access/hub-invite.ts'
import type { InviteRow } from '../book-entries.ts'
import { inTransaction } from '../../../store/sqlite.ts'
import { named } from '../../../store/store-error.ts'
import { inviteOf } from '../book-entries.ts'

/** The table of the invitations, which is in the hub's ledger. */
export const inviteTables = `
  CREATE TABLE IF NOT EXISTS invites (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, hash TEXT NOT NULL UNIQUE, ends REAL NOT NULL, invite TEXT NOT NULL
  ) WITHOUT ROWID;
`

/** The hub's invitations in SQLite. Each change is one transaction without an await in it. */
export class SqliteInviteBook implements HubInviteBook {
  #db: DatabaseSync
  #path: string
  #sql: Record<'all' | 'byHash' | 'byId' | 'put' | 'change' | 'removeNamed' | 'sweep', StatementSync>

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
    this.#sql = {
      all: db.prepare('SELECT invite FROM invites ORDER BY ends, id'),
      byHash: db.prepare('SELECT invite FROM invites WHERE hash = ?'),
      byId: db.prepare('SELECT invite FROM invites WHERE id = ?'),
      put: db.prepare('INSERT OR REPLACE INTO invites (id, name, hash, ends, invite) VALUES (?, ?, ?, ?, ?)'),
      change: db.prepare('UPDATE invites SET invite = ? WHERE id = ?'),
      removeNamed: db.prepare('DELETE FROM invites WHERE name = ?'),
      sweep: db.prepare('DELETE FROM invites WHERE ends < ?'),
    }
  }

  async all(): Promise<HubInvite[]> {
    return (named('read', this.#path, () => this.#sql.all.all()) as InviteRow[]).map(inviteOf)
  }

  async withHash(hash: string): Promise<HubInvite | undefined> {
    const row = named('read', this.#path, () => this.#sql.byHash.get(hash)) as InviteRow | undefined
    return row && inviteOf(row)
  }

  async put(invite: HubInvite, endedBefore: number): Promise<void> {
    const { id, name, hash, ends } = invite
    this.#write(() => {
      this.#sql.sweep.run(endedBefore)
      this.#sql.put.run(id, name, hash, ends, JSON.stringify(invite))
    })
  }

  async use(id: string, used: { hash: string; at: number }): Promise<boolean> {
    return this.#write(() => {
      const row = this.#sql.byId.get(id) as InviteRow | undefined
      const invite = row && inviteOf(row)
      if (!invite || invite.used) return false
      this.#sql.change.run(JSON.stringify({ ...invite, used }), id)
      return true
    })
  }

  async removeNamed(name: string): Promise<void> {
    this.#write(() => this.#sql.removeNamed.run(name))
  }

  #write<T>(work: () => T): T {
    return named('write', this.#path, () => inTransaction(this.#db, work))
  }
}
