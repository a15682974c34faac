import type { Clock } from '../base/time/clock.ts'
import { accessSync, constants, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../base/error-message.ts'
import { errorCode, isMissing } from '../base/files/files.ts'
import { StoreError } from '../core/talk/store.ts'

/** The clock of a store, and how the person learns of a file that it moved. */
export type StoreVoice = { clock: Clock; tell?(words: string): void }

/** The files that SQLite keeps beside a database. */
export const besideDatabase = ['', '-wal', '-shm', '-journal'] as const

/**
 * Moves a file of ours that cannot be used out of the way, so that it neither stops anything nor is lost, and tells where it is.
 * `endings` are those of the files that belong together.
 */
export function setAside(path: string, { clock, tell }: StoreVoice, endings: readonly string[] = ['']): void {
  const aside = `${path}.${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-')}.broken`
  const why = whyUnusable(path)
  let moved = false
  for (const ending of endings) {
    try {
      renameSync(`${path}${ending}`, `${aside}${ending}`)
      moved ||= ending === ''
    } catch (error) {
      // Another process has moved the file already, or there was no file.
      if (isMissing(error)) continue
      const words = `${path} ${why} and cannot be set aside: ${messageOf(error)}; move it away yourself`
      throw new StoreError(words, { cause: error })
    }
  }
  if (moved) tell?.(`${path} ${why}. It was set aside as ${aside}, and a new one is made.`)
}

/** The fault of a file that cannot be used, as the end of a sentence that begins with its path. */
function whyUnusable(path: string): string {
  try {
    if (statSync(path).isDirectory()) return 'is a folder and not a file'
    accessSync(path, constants.R_OK | constants.W_OK)
    return 'was damaged'
  } catch (error) {
    if (errorCode(error) === 'ELOOP') return 'is a link that leads to itself'
    return errorCode(error) === 'EACCES' ? 'may not be read and written by you' : 'was damaged'
  }
}

/** Whether an error of the file system means that a path is not a file that we can use, whatever its content. */
export function isUnusable(error: unknown, path: string): boolean {
  const code = errorCode(error)
  return code === 'EISDIR' || code === 'ELOOP' || ((code === 'EACCES' || code === 'EPERM') && isLocked(path))
}

/**
 * Whether a path is a folder, a link that leads nowhere, or a file that we may not read and write, in a folder that we may change. In a
 * folder that we may only read nothing can be made in the place of such a file, and the file can still be read.
 */
export function isLocked(path: string): boolean {
  try {
    if (statSync(path).isDirectory()) return true
    accessSync(path, constants.R_OK | constants.W_OK)
    return false
  } catch (error) {
    return errorCode(error) === 'ELOOP' || (errorCode(error) === 'EACCES' && canReplace(path))
  }
}

function canReplace(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
