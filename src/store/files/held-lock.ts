import type { DatabaseSync } from 'node:sqlite'
import { busy, openDatabase, sqliteCode } from '../sqlite.ts'

/**
 * A lock that one process at a time can hold for as long as it wants. Node has no flock; SQLite's write lock works like one, and the
 * system releases it when its process dies.
 */
export class HeldLock {
  #path: string
  #db: DatabaseSync | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Takes the lock if it is free; false if another process has it. */
  take(): boolean {
    if (this.#db) return true
    const db = openDatabase(this.#path)
    try {
      db.exec('BEGIN IMMEDIATE')
    } catch (error) {
      db.close()
      if (sqliteCode(error) === busy) return false
      throw error
    }
    this.#db = db
    return true
  }

  release(): void {
    this.#db?.close()
    this.#db = undefined
  }
}
