import type { DatabaseSync } from 'node:sqlite'
import { rmSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { immediately, openDatabase, patiently, sqliteCode } from '../sqlite.ts'
import { storeError } from '../trouble.ts'
import { prepare } from './schema.ts'

const corrupt = 11
const notADatabase = 26

/** The index's file, ready to use. What it holds is in the logs too, so a spoilt one is thrown away and filled again. */
export class Database {
  #path: string
  #clock: Clock
  #refill: (db: DatabaseSync) => Promise<unknown>
  #open: Promise<DatabaseSync> | undefined

  constructor(path: string, clock: Clock, refill: (db: DatabaseSync) => Promise<unknown>) {
    this.#path = path
    this.#clock = clock
    this.#refill = refill
  }

  /** Runs `work` on it, and once more on a new file if this one turns out to be spoilt. */
  async use<T>(work: (db: DatabaseSync) => T | Promise<T>): Promise<T> {
    try {
      return await this.#try(work)
    } catch (error) {
      if (!isSpoilt(error)) throw storeError('use', this.#path, error)
    }
    try {
      await this.#throwAway()
      await this.#try(this.#refill)
      return await this.#try(work)
    } catch (error) {
      throw storeError('use', this.#path, error)
    }
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.then(
      (db) => db.close(),
      () => {},
    )
  }

  async #try<T>(work: (db: DatabaseSync) => T | Promise<T>): Promise<T> {
    this.#open ??= this.#start().catch((error) => {
      this.#open = undefined
      throw error
    })
    const db = await this.#open
    return await patiently(this.#clock, () => work(db))
  }

  async #start(): Promise<DatabaseSync> {
    const db = openDatabase(this.#path)
    try {
      // A power cut may cost the latest entries: the logs have them.
      await patiently(this.#clock, () => db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL'))
      if (!(await immediately(db, this.#clock, () => prepare(db)))) throw new Stale()
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }

  async #throwAway(): Promise<void> {
    await this.close()
    for (const ending of ['', '-wal', '-shm']) rmSync(`${this.#path}${ending}`, { force: true })
  }
}

class Stale extends Error {}

function isSpoilt(error: unknown): boolean {
  return error instanceof Stale || [corrupt, notADatabase].includes(sqliteCode(error) ?? 0)
}
