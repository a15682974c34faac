import { messageOf } from '../base/error-message.ts'
import { errorCode } from '../base/files.ts'
import { StoreError } from '../core/talk/store.ts'

const full = 'the disk is full; free some space and try again'
const unwritable = 'set TERMAITE_HOME to a folder you can write, or make this one writable'
const inTheWay = 'a file or folder of another kind is in the way; move it and try again'

/** What each error of the file system means, and what to do next. */
const words: Record<string, string> = {
  EACCES: `you have no permission; ${unwritable}`,
  EPERM: `the system does not allow it; ${unwritable}`,
  EROFS: `the file system is read-only; ${unwritable}`,
  ENOSPC: full,
  EDQUOT: 'your disk quota is used up; free some space and try again',
  EFBIG: 'the file would be larger than the system allows; raise the limit (ulimit -f) and try again',
  EMFILE: 'too many files are open; raise the limit (ulimit -n) and try again',
  ENFILE: 'too many files are open on this machine; close something and try again',
  ENOTDIR: inTheWay,
  EISDIR: inTheWay,
  EEXIST: inTheWay,
  EBUSY: 'another process has had it locked for a minute; find that process with `termaite ps`, end it, and try again',
  EIO: 'the disk reported an error; check it and its cable or mount, then try again',
}

/** The file system's name for SQLite's error codes. */
const sqlite: Record<number, string> = { 5: 'EBUSY', 3: 'EACCES', 8: 'EROFS', 10: 'EIO', 13: 'ENOSPC', 14: 'EACCES' }

/** Makes an error whose message says what failed, why, and what to do next. */
export function storeError(doing: string, path: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  const number = (cause as { errcode?: unknown } | undefined)?.errcode
  const code = typeof number === 'number' ? sqlite[number & 0xff] : errorCode(cause)
  const said = messageOf(cause)
  return new StoreError(`cannot ${doing} ${path}: ${words[code ?? ''] ?? said}`, { cause })
}

/** Makes the error for a write that the system cut short without reporting an error. */
export function shortWrite(path: string, written: number, wanted: number): StoreError {
  const cause = Object.assign(new Error(`only ${written} of ${wanted} bytes were written`), { code: 'ENOSPC' })
  return storeError('write', path, cause)
}
