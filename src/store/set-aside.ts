import type { Clock } from '../base/time/clock.ts'
import { accessSync, constants, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../base/error-message.ts'
import { errorCode, isMissing } from '../base/files/files.ts'
import { StoreError } from '../core/talk/store.ts'

/** The clock of a store, and a function that tells the person about a file that was moved. */
export type StoreVoice = { clock: Clock; tell?(words: string): void }

/** The suffixes of the files that SQLite keeps next to a database. */
export const besideDatabase = ['', '-wal', '-shm', '-journal'] as const

/**
 * Moves an unusable file of ours out of the way, so that it neither blocks anything nor is lost, and reports its new place. `endings` are
 * the suffixes of the files that belong together.
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
      // Another process has moved the file already, or the file did not exist.
      if (isMissing(error)) continue
      const words = `${path} ${why} and cannot be set aside: ${messageOf(error)}; move it away yourself`
      throw new StoreError(words, { cause: error })
    }
  }
  if (moved) tell?.(`${path} ${why}. It was set aside as ${aside}, and a new one is made.`)
}

/** Why a file cannot be used, as the end of a sentence that begins with its path. */
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

/** Whether an error of the file system means that we cannot use the file at a path, whatever its content. */
export function isUnusable(error: unknown, path: string): boolean {
  const code = errorCode(error)
  return code === 'EISDIR' || code === 'ELOOP' || ((code === 'EACCES' || code === 'EPERM') && isLocked(path))
}

/**
 * Whether a path is a folder, a link that leads nowhere, or a file that we may not read and write, in a folder that we may change. In a
 * folder that we may only read, such a file cannot be replaced, and can still be read.
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
