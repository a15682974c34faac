import type { DatabaseSync } from 'node:sqlite'
import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../base/time/clock.ts'
import { errorCode, makeFolder } from '../base/files/files.ts'
import { StoreError } from '../core/talk/store.ts'
import { isLocked } from './set-aside.ts'
import { storeError } from './store-error.ts'

export const busy = 5
const longestNapMs = 40
const mostPatienceMs = 60_000

/** Opens a database file that only its owner can read. */
export function openDatabase(path: string): DatabaseSync {
  try {
    makeFolder(dirname(path))
    createPrivately(path)
    // SQLite's own waiting would block the event loop, so it is off: `immediately` waits with timers.
    return new (sqlite().DatabaseSync)(path, { timeout: 0 })
  } catch (error) {
    throw storeError('open', path, error)
  }
}

/** Opens a database that lasts as long as this process. */
export function memoryDatabase(): DatabaseSync {
  return new (sqlite().DatabaseSync)(':memory:')
}

/** Opens a database in a temporary file that SQLite removes when the database is closed. */
export function temporaryDatabase(): DatabaseSync {
  return new (sqlite().DatabaseSync)('')
}

/** Runs work whose changes are all stored, or discarded if it throws or returns false. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
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

/** Runs `work` in a write transaction, once no other process is in one. A transaction ends when its process dies. */
export function immediately<T>(db: DatabaseSync, clock: Clock, work: () => T): Promise<T> {
  // There is no await between begin and commit, so that no other code of this process writes between them.
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

/** Runs `work` once while no other process has the write lock. Nothing is committed, so no reader can make it fail at its end. */
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

/**
 * Repeats `work` while another process has the database locked, for at most a minute. Locks are held for milliseconds,
 * so a process that holds one for a minute hangs.
 */
export async function patiently<T>(clock: Clock, work: () => T | Promise<T>): Promise<T> {
  let slept = 0
  for (let nap = 1; ; nap = Math.min(nap * 2, longestNapMs)) {
    try {
      return await work()
    } catch (error) {
      if (sqliteCode(error) !== busy || slept >= mostPatienceMs) throw error
    }
    await clock.sleep(nap)
    slept += nap
  }
}

const denied = 3
const readOnly = 8
const corrupt = 11
const cannotOpen = 14
const notADatabase = 26

/** Whether an error means that a file contains no usable database. */
export function isDamaged(error: unknown, path: string): boolean {
  const code = sqliteCode(error instanceof StoreError ? error.cause : error)
  return code === corrupt || code === notADatabase || (code === cannotOpen && isLocked(path))
}

/** Whether an error means that a database cannot be written or created at its place. */
export function isUnwritable(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : error
  const code = sqliteCode(cause)
  if (code !== undefined) return code === denied || code === readOnly || code === cannotOpen
  return ['EACCES', 'EPERM', 'EROFS'].includes(errorCode(cause) ?? '')
}

export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

let loaded: typeof import('node:sqlite') | undefined

/** Loads SQLite when it is first needed, because most runs start without it. Node 22 warns that it is experimental; that warning is dropped. */
function sqlite(): typeof import('node:sqlite') {
  if (loaded) return loaded
  const emitWarning = process.emitWarning
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!/\bSQLite\b/.test(String(warning))) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    loaded = process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
  return loaded
}

/** Creates the file with its permissions, because SQLite would let others read it. An existing file is not opened: closing it would drop SQLite's locks. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}
