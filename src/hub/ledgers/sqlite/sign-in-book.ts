import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { SignIn, SignInBook, SignInLink } from '../../model/access/sign-in.ts'
import type { SignInRow } from '../book-entries.ts'
import { inTransaction } from '../../../store/sqlite.ts'
import { named } from '../../../store/store-error.ts'
import { signInOf } from '../book-entries.ts'

/** The tables of links and sign-ins, which are in the hub's ledger. */
export const signInTables = `
  CREATE TABLE IF NOT EXISTS links (id TEXT PRIMARY KEY, made INTEGER NOT NULL, link TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sign_ins (
    id TEXT PRIMARY KEY, cookie TEXT NOT NULL UNIQUE, made INTEGER NOT NULL, sign_in TEXT NOT NULL, used INTEGER
  ) WITHOUT ROWID;
`

/** The hub's links and sign-ins in SQLite. Each change is one transaction without an await in it. */
export class SqliteSignInBook implements SignInBook {
  #db: DatabaseSync
  #path: string
  #put: Record<
    'links' | 'link' | 'insertLink' | 'removeLink' | 'all' | 'byCookie' | 'insert' | 'remove' | 'used',
    StatementSync
  >

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
    this.#put = {
      links: db.prepare('SELECT link FROM links ORDER BY made, id'),
      link: db.prepare('SELECT link FROM links WHERE id = ?'),
      insertLink: db.prepare('INSERT INTO links (id, made, link) VALUES (?, ?, ?)'),
      removeLink: db.prepare('DELETE FROM links WHERE id = ?'),
      all: db.prepare('SELECT sign_in, used FROM sign_ins ORDER BY made, id'),
      byCookie: db.prepare('SELECT sign_in, used FROM sign_ins WHERE cookie = ?'),
      insert: db.prepare('INSERT INTO sign_ins (id, cookie, made, sign_in, used) VALUES (?, ?, ?, ?, ?)'),
      remove: db.prepare('DELETE FROM sign_ins WHERE id = ?'),
      used: db.prepare('UPDATE sign_ins SET used = ? WHERE id = ?'),
    }
  }

  async links(): Promise<SignInLink[]> {
    return named('read', this.#path, () => this.#links())
  }

  async putLink(link: SignInLink, most: number): Promise<boolean> {
    return this.#write(() => {
      if (this.#links().filter(({ name }) => name === link.name).length >= most) return false
      this.#put.insertLink.run(link.id, link.made, JSON.stringify(link))
      return true
    })
  }

  async removeLink(id: string): Promise<boolean> {
    return this.#write(() => this.#put.removeLink.run(id).changes > 0)
  }

  async all(): Promise<SignIn[]> {
    return (named('read', this.#path, () => this.#put.all.all()) as SignInRow[]).map(signInOf)
  }

  async withCookie(hash: string): Promise<SignIn | undefined> {
    const row = named('read', this.#path, () => this.#put.byCookie.get(hash)) as SignInRow | undefined
    return row && signInOf(row)
  }

  async put(signIn: SignIn): Promise<boolean> {
    const { link, insert, removeLink } = this.#put
    const { used, ...rest } = signIn
    return this.#write(() => {
      const row = link.get(signIn.link) as { link: string } | undefined
      if (!row) return false
      if ((JSON.parse(row.link) as SignInLink).once) removeLink.run(signIn.link)
      insert.run(signIn.id, signIn.cookieHash, signIn.made, JSON.stringify(rest), used ?? null)
      return true
    })
  }

  async remove(id: string): Promise<boolean> {
    return this.#write(() => this.#put.remove.run(id).changes > 0)
  }

  async markUsed(id: string, at: number): Promise<void> {
    named('write', this.#path, () => this.#put.used.run(at, id))
  }

  #links(): SignInLink[] {
    return (this.#put.links.all() as { link: string }[]).map(({ link }) => JSON.parse(link) as SignInLink)
  }

  #write(work: () => boolean): boolean {
    return named('write', this.#path, () => inTransaction(this.#db, work))
  }
}
