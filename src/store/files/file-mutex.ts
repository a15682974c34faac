import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../base/clock.ts'
import { holding, openDatabase, patiently, sqliteCode } from '../sqlite.ts'
import { storeError } from '../store-error.ts'
import { serialQueue } from '../../base/serial-queue.ts'
import { StoreError } from '../../core/talk/store.ts'

const notADatabase = 26

/** A lock over all processes. Node has no flock; SQLite's write lock works like one, and the system frees it when its process dies. */
export class Mutex {
  #path: string
  #clock: Clock
  #serial = serialQueue()
  #db: DatabaseSync | undefined

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
  }

  /** Opens the lock file. SQLite would write an empty file at every lock, so the file gets its one page right away. */
  async #open(): Promise<DatabaseSync> {
    const db = openDatabase(this.#path)
    await patiently(this.#clock, () => {
      if (db.prepare('PRAGMA page_count').get()?.page_count === 0) db.exec('PRAGMA user_version = 1')
    })
    return db
  }

  hold<T>(work: () => T): Promise<T> {
    return this.#serial(async () => {
      let begun = false
      try {
        const db = (this.#db ??= await this.#open())
        return await holding(db, this.#clock, () => {
          begun = true
          return work()
        })
      } catch (error) {
        if (begun) throw error
        if (sqliteCode(error) === notADatabase)
          throw new StoreError(`${this.#path} is damaged; it holds no data, so delete it and try again`, {
            cause: error,
          })
        throw storeError('lock', this.#path, error)
      }
    })
  }
}
