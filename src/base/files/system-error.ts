import { errorCode } from './files.ts'

/** The message for a full disk, with the advice to free some space. */
export const diskFullWords = 'the disk is full; free some space and try again'
const unwritable = 'set TERMAITE_HOME to a folder you can write, or make this one writable'
const inTheWay = 'a file or folder of another kind is in the way; move it and try again'

/** The meaning of each file system error, and what to do next. */
const meanings: Record<string, string> = {
  EACCES: `you have no permission; ${unwritable}`,
  EPERM: `the system does not allow it; ${unwritable}`,
  ELOOP: 'it is a link that leads to itself; move it and try again',
  READONLY: `it is read-only; ${unwritable}`,
  EROFS: `the file system is read-only; ${unwritable}`,
  ENOSPC: diskFullWords,
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

/** Says why the file system refused something, and what to do next; undefined for any other error. */
export function systemErrorWords(error: unknown, code = errorCode(error)): string | undefined {
  return code === undefined ? undefined : meanings[code]
}

/** Whether a full disk caused an error of the file system, or of a program that reports it in its own words. */
export function isDiskFull(error: unknown): boolean {
  return (
    ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '') || (error instanceof Error && tellsFullDisk(error.message))
  )
}

/** Whether a program said that the disk has no room. */
export const tellsFullDisk = (words: string) => /no space left on device|Disk quota exceeded/i.test(words)

/** Like `systemErrorWords`, but with the path that caused the error. */
export function refusedPathWords(error: unknown): string | undefined {
  const path = (error as { path?: unknown } | undefined)?.path
  const words = systemErrorWords(error)
  return words !== undefined && typeof path === 'string' ? `cannot use ${path}: ${words}` : undefined
}

/** A program that the person must install first, as the message says; `code` is that of a missing file. */
export class ProgramMissing extends Error {
  override name = 'ProgramMissing'
  readonly code = 'ENOENT'

  constructor(program: string) {
    super(
      `${program} is not installed, or not on the PATH. Install it with the package manager of this system, then try again.`,
    )
  }
}
