import type { DatabaseSync } from 'node:sqlite'
import type { StoreVoice } from '../set-aside.ts'
import { besideDatabase, setAside } from '../set-aside.ts'
import { holding, isDamaged, openDatabase, patiently } from '../sqlite.ts'
import { storeError } from '../store-error.ts'
import { serialQueue } from '../../base/serial-queue.ts'

/** A lock for all processes. Node has no flock; SQLite's write lock works like one, and the system releases it when its process dies. */
export class Mutex {
  #path: string
  #voice: StoreVoice
  #serial = serialQueue()
  #db: DatabaseSync | undefined

  constructor(path: string, voice: StoreVoice) {
    this.#path = path
    this.#voice = voice
  }

  /** Opens the lock file. A damaged one is replaced, because it holds no data. */
  async #open(): Promise<DatabaseSync> {
    try {
      return await this.#opened()
    } catch (error) {
      if (!isDamaged(error, this.#path)) throw error
      setAside(this.#path, this.#voice, besideDatabase)
      return await this.#opened()
    }
  }

  /** Opens the file. SQLite would write an empty file at every lock, so it gets its single page right away. */
  async #opened(): Promise<DatabaseSync> {
    const db = openDatabase(this.#path)
    try {
      await patiently(this.#voice.clock, () => {
        if (db.prepare('PRAGMA page_count').get()?.page_count === 0) db.exec('PRAGMA user_version = 1')
        // A damaged file is detected here, before anybody relies on its lock.
        db.exec('BEGIN IMMEDIATE; ROLLBACK')
      })
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }

  hold<T>(work: () => T): Promise<T> {
    return this.#serial(async () => {
      let begun = false
      try {
        const db = (this.#db ??= await this.#open())
        return await holding(db, this.#voice.clock, () => {
          begun = true
          return work()
        })
      } catch (error) {
        if (begun) throw error
        throw storeError('lock', this.#path, error)
      }
    })
  }
}
