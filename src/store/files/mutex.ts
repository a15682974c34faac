import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../base/clock.ts'
import { holding, openDatabase, sqliteCode } from '../sqlite.ts'
import { storeError } from '../trouble.ts'
import { Turnstile } from '../turnstile.ts'
import { StoreError } from '../../core/talk/store.ts'

const notADatabase = 26

/** One holder over all processes. Node has no flock; SQLite's write lock is one, and the system frees it with its process. */
export class Mutex {
  #path: string
  #clock: Clock
  #turnstile = new Turnstile()
  #db: DatabaseSync | undefined

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
  }

  hold<T>(work: () => T): Promise<T> {
    return this.#turnstile.pass(async () => {
      this.#db ??= openDatabase(this.#path)
      let begun = false
      try {
        return await holding(this.#db, this.#clock, () => {
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
