import type { DatabaseSync } from 'node:sqlite'
import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { errorCode, makeFolder } from '../base/files.ts'
import { storeError } from './trouble.ts'

export const busy = 5
const longestNapMs = 40

/** Opens a database file that only its owner can read. */
export function openDatabase(path: string): DatabaseSync {
  try {
    makeFolder(dirname(path))
    createPrivately(path)
    // SQLite's own waiting would block the whole process: nobody waits in there, `immediately` waits outside.
    return new (sqlite().DatabaseSync)(path, { timeout: 0 })
  } catch (error) {
    throw storeError('open', path, error)
  }
}

/** Runs `work` in a write transaction once no other process holds one; a dead process holds none. */
export function immediately<T>(db: DatabaseSync, clock: Clock, work: () => T): Promise<T> {
  // Without a pause from begin to end, so that nobody else in this process gets between.
  return patiently(clock, () => {
    db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      db.exec('COMMIT')
      return result
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  })
}

/** Runs `work` once while no other process holds the write lock; nothing is written, so no reader elsewhere can make it fail at its end. */
export function holding<T>(db: DatabaseSync, clock: Clock, work: () => T): Promise<T> {
  return patiently(clock, () => {
    db.exec('BEGIN IMMEDIATE')
    try {
      return work()
    } finally {
      db.exec('ROLLBACK')
    }
  })
}

/** Does it again for as long as another process has the database. */
export async function patiently<T>(clock: Clock, work: () => T | Promise<T>): Promise<T> {
  for (let nap = 1; ; nap = Math.min(nap * 2, longestNapMs)) {
    try {
      return await work()
    } catch (error) {
      if (sqliteCode(error) !== busy) throw error
    }
    await clock.sleep(nap)
  }
}

export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

let loaded: typeof import('node:sqlite') | undefined

/** Loaded when first needed, because starting up is often; Node 22 warns of it, and that one warning is not passed on. */
function sqlite(): typeof import('node:sqlite') {
  if (loaded) return loaded
  const emitWarning = process.emitWarning
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (!/\bSQLite\b/.test(String(warning))) Reflect.apply(emitWarning, process, [warning, ...rest])
  }) as typeof process.emitWarning
  try {
    loaded = process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
  return loaded
}

/** Created by us, because SQLite would let others read it; never opened again by us, because closing it would drop SQLite's locks. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}
