import { messageOf } from '../base/error-message.ts'
import { errorCode } from '../base/files/files.ts'
import { systemErrorWords } from '../base/files/system-error.ts'
import { StoreError } from '../core/talk/store.ts'

/** SQLite does not say whether the file system or only the file is read-only. */
const unwritableDatabase = 'READONLY'

/** The file system's name for SQLite's error codes. */
const sqlite: Record<number, string> = {
  5: 'EBUSY',
  3: 'EACCES',
  8: unwritableDatabase,
  10: 'EIO',
  13: 'ENOSPC',
  14: 'EACCES',
}

/** Makes an error whose message says what failed, why, and what to do next. */
export function storeError(doing: string, path: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  const number = (cause as { errcode?: unknown } | undefined)?.errcode
  const code = typeof number === 'number' ? sqlite[number & 0xff] : errorCode(cause)
  const said = messageOf(cause)
  return new StoreError(`cannot ${doing} ${path}: ${systemErrorWords(cause, code) ?? said}`, { cause })
}

/** Makes the error for a write that the system cut short without reporting an error. */
export function shortWrite(path: string, written: number, wanted: number): StoreError {
  const cause = Object.assign(new Error(`only ${written} of ${wanted} bytes were written`), { code: 'ENOSPC' })
  return storeError('write', path, cause)
}

/** Runs work whose errors name the file and say what to do. */
export function nameErrors<T>(verb: Parameters<typeof storeError>[0], path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw storeError(verb, path, error)
  }
}
