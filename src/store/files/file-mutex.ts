import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../base/clock.ts'
import { holding, openDatabase, patiently, sqliteCode } from '../sqlite.ts'
import { storeError } from '../store-error.ts'
import { serialQueue } from '../../base/serial-queue.ts'
import { StoreError } from '../../core/talk/store.ts'

const notADatabase = 26

/** One holder over all processes. Node has no flock; SQLite's write lock is one, and the system frees it with its process. */
export class Mutex {
  #path: string
  #clock: Clock
  #serial = serialQueue()
  #db: DatabaseSync | undefined

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
  }

  /** An empty file would be written at every lock: it gets its one page when it is made, while there is room. */
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
          throw new StoreError(`${this.#path} is damaged; it holds nothing: delete it and try again`, { cause: error })
        throw storeError('lock', this.#path, error)
      }
    })
  }
}
