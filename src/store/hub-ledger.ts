import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { HubKey, HubKeyBook } from '../core/work/hub-key.ts'
import type { SignIn, SignInBook, SignInLink } from '../core/work/sign-in.ts'
import type { StoreVoice } from './set-aside.ts'
import type { InboxMark } from '../core/work/inbox.ts'
import type { HubChange, HubLedger } from '../core/work/hub-ledger.ts'
import type { HubAgent, Task } from '../core/work/task.ts'
import { defined } from '../base/defined.ts'
import { markKey } from '../core/work/inbox.ts'
import { parseTask } from '../core/work/task.ts'
import { realClock } from '../base/clock.ts'
import { besideDatabase, setAside } from './set-aside.ts'
import { busy, isDamaged, openDatabase, sqliteCode } from './sqlite.ts'
import { storeError } from './store-error.ts'

/** How many changes are stored for followers that fell behind; one that is further behind reads everything again. */
const mostChanges = 50_000
/** Old changes are deleted each time this many new ones were stored. */
const sweepEvery = 1_000

/** Another process has the ledger open. */
export class LedgerTaken extends Error {
  constructor(path: string) {
    super(`another process has ${path} open`)
  }
}

/** A hub's ledger in SQLite, which one process at a time has open. A file that is damaged is set aside, and a new one begins. */
export function fileHubLedger(path: string, { clock = realClock, tell }: Partial<StoreVoice> = {}): HubLedger {
  try {
    return openLedger(path)
  } catch (error) {
    if (!isDamaged(error, path)) throw error
    setAside(path, defined({ clock, tell }), besideDatabase)
    return openLedger(path)
  }
}

function openLedger(path: string): HubLedger {
  const db = openDatabase(path)
  try {
    // An exclusive lock from the first statement on: a second process is refused, and a dead one holds no lock.
    db.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY, task TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS agents (id TEXT PRIMARY KEY, agent TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS changes (seq INTEGER PRIMARY KEY, change TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS keys (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, hash TEXT NOT NULL UNIQUE,
        made INTEGER NOT NULL, key TEXT NOT NULL, used INTEGER
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS marks (id TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS links (id TEXT PRIMARY KEY, made INTEGER NOT NULL, link TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS sign_ins (
        id TEXT PRIMARY KEY, cookie TEXT NOT NULL UNIQUE, made INTEGER NOT NULL, sign_in TEXT NOT NULL, used INTEGER
      ) WITHOUT ROWID;
    `)
  } catch (error) {
    db.close()
    if (sqliteCode(error) === busy) throw new LedgerTaken(path)
    throw storeError('open', path, error)
  }
  return new SqliteLedger(db, path)
}

class SqliteLedger implements HubLedger {
  readonly keys: HubKeyBook
  readonly signIns: SignInBook
  #db: DatabaseSync
  #path: string
  #put: Record<'change' | 'task' | 'agent' | 'gone' | 'mark' | 'sweep', StatementSync>

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
    this.keys = new SqliteKeyBook(db, path)
    this.signIns = new SqliteSignInBook(db, path)
    this.#put = {
      change: db.prepare('INSERT INTO changes (seq, change) VALUES (?, ?)'),
      task: db.prepare('INSERT OR REPLACE INTO tasks (id, task) VALUES (?, ?)'),
      agent: db.prepare('INSERT OR REPLACE INTO agents (id, agent) VALUES (?, ?)'),
      gone: db.prepare('DELETE FROM agents WHERE id = ?'),
      mark: db.prepare('INSERT OR REPLACE INTO marks (id, mark) VALUES (?, ?)'),
      sweep: db.prepare('DELETE FROM changes WHERE seq <= ?'),
    }
  }

  load() {
    return named('read', this.#path, () => {
      const last = this.#db.prepare('SELECT max(seq) AS seq FROM changes').get() as { seq: number | null }
      const rows = (sql: string) => this.#db.prepare(sql).all() as { text: string }[]
      return {
        seq: last.seq ?? 0,
        agents: rows('SELECT agent AS text FROM agents').map(({ text }) => JSON.parse(text) as HubAgent),
        tasks: rows('SELECT task AS text FROM tasks').map(({ text }) => parseTask(JSON.parse(text))),
        marks: rows('SELECT mark AS text FROM marks').map(({ text }) => JSON.parse(text) as InboxMark),
      }
    })
  }

  keep(changes: readonly HubChange[], tasks: readonly Task[]): void {
    named('write', this.#path, () => inTransaction(this.#db, () => this.#write(changes, tasks)))
  }

  since(seq: number, most: number): HubChange[] | undefined {
    return named('read', this.#path, () => {
      const first = this.#db.prepare('SELECT min(seq) AS seq FROM changes').get() as { seq: number | null }
      if (first.seq !== null && first.seq > seq + 1) return undefined
      const rows = this.#db.prepare('SELECT change FROM changes WHERE seq > ? ORDER BY seq LIMIT ?').all(seq, most)
      return (rows as { change: string }[]).map(({ change }) => JSON.parse(change) as HubChange)
    })
  }

  close(): void {
    this.#db.close()
  }

  #write(changes: readonly HubChange[], tasks: readonly Task[]) {
    const { change, task, agent, gone, mark, sweep } = this.#put
    for (const each of tasks) task.run(each.id, JSON.stringify(each))
    for (const each of changes) {
      change.run(each.seq, JSON.stringify(each))
      if (each.type === 'agent') agent.run(each.agent.id, JSON.stringify(each.agent))
      if (each.type === 'gone') gone.run(each.id)
      if (each.type === 'mark') mark.run(markKey(each.mark), JSON.stringify(each.mark))
      if (each.seq % sweepEvery === 0) sweep.run(each.seq - mostChanges)
    }
  }
}

type KeyRow = { key: string; used: number | null }

class SqliteKeyBook implements HubKeyBook {
  #db: DatabaseSync
  #path: string
  #put: Record<'all' | 'byHash' | 'taken' | 'insert' | 'remove' | 'used', StatementSync>

  constructor(db: DatabaseSync, path: string) {
    this.#db = db
    this.#path = path
    this.#put = {
      all: db.prepare('SELECT key, used FROM keys ORDER BY made, id'),
      byHash: db.prepare('SELECT key, used FROM keys WHERE hash = ?'),
      taken: db.prepare('SELECT 1 FROM keys WHERE name = ?'),
      insert: db.prepare('INSERT INTO keys (id, name, hash, made, key, used) VALUES (?, ?, ?, ?, ?, ?)'),
      remove: db.prepare('DELETE FROM keys WHERE id = ?'),
      used: db.prepare('UPDATE keys SET used = ? WHERE id = ?'),
    }
  }

  all(): HubKey[] {
    const rows = named('read', this.#path, () => this.#put.all.all()) as KeyRow[]
    return rows.map(keyOf)
  }

  withHash(hash: string): HubKey | undefined {
    const row = named('read', this.#path, () => this.#put.byHash.get(hash)) as KeyRow | undefined
    return row && keyOf(row)
  }

  put(key: HubKey, instead?: string): boolean {
    const { taken, insert, remove } = this.#put
    const { used, ...rest } = key
    return named('write', this.#path, () =>
      inTransaction(this.#db, () => {
        if (instead !== undefined && remove.run(instead).changes === 0) return false
        if (taken.get(key.name)) return false
        insert.run(key.id, key.name, key.hash, key.made, JSON.stringify(rest), used ?? null)
        return true
      }),
    )
  }

  remove(id: string): boolean {
    return named('write', this.#path, () => this.#put.remove.run(id).changes > 0)
  }

  markUsed(id: string, at: number): void {
    named('write', this.#path, () => this.#put.used.run(at, id))
  }
}

type SignInRow = { sign_in: string; used: number | null }

class SqliteSignInBook implements SignInBook {
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

  links(): SignInLink[] {
    const rows = named('read', this.#path, () => this.#put.links.all()) as { link: string }[]
    return rows.map(({ link }) => JSON.parse(link) as SignInLink)
  }

  putLink(link: SignInLink): void {
    named('write', this.#path, () => this.#put.insertLink.run(link.id, link.made, JSON.stringify(link)))
  }

  removeLink(id: string): boolean {
    return named('write', this.#path, () => this.#put.removeLink.run(id).changes > 0)
  }

  all(): SignIn[] {
    return (named('read', this.#path, () => this.#put.all.all()) as SignInRow[]).map(signInOf)
  }

  withCookie(hash: string): SignIn | undefined {
    const row = named('read', this.#path, () => this.#put.byCookie.get(hash)) as SignInRow | undefined
    return row && signInOf(row)
  }

  put(signIn: SignIn): boolean {
    const { link, insert, removeLink } = this.#put
    const { used, ...rest } = signIn
    return named('write', this.#path, () =>
      inTransaction(this.#db, () => {
        const row = link.get(signIn.link) as { link: string } | undefined
        if (!row) return false
        if ((JSON.parse(row.link) as SignInLink).once) removeLink.run(signIn.link)
        insert.run(signIn.id, signIn.cookieHash, signIn.made, JSON.stringify(rest), used ?? null)
        return true
      }),
    )
  }

  remove(id: string): boolean {
    return named('write', this.#path, () => this.#put.remove.run(id).changes > 0)
  }

  markUsed(id: string, at: number): void {
    named('write', this.#path, () => this.#put.used.run(at, id))
  }
}

const signInOf = ({ sign_in, used }: SignInRow): SignIn =>
  defined({ ...(JSON.parse(sign_in) as SignIn), used: used ?? undefined })

const keyOf = ({ key, used }: KeyRow): HubKey => defined({ ...(JSON.parse(key) as HubKey), used: used ?? undefined })

/** Runs work whose changes are all stored or none: none when it throws or returns false. */
function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec(result === false ? 'ROLLBACK' : 'COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Runs work whose errors name the file and say what to do. */
function named<T>(verb: 'read' | 'write', path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw storeError(verb, path, error)
  }
}
