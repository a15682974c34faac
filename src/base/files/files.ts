import type { Stats } from 'node:fs'
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Returns the code of a system error, such as ENOENT; undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

export const isMissing = (error: unknown) => errorCode(error) === 'ENOENT'

/** Creates a folder that only its owner can open, with its parents. Existing folders stay as they are. */
export function makeFolder(path: string): void {
  if (isFolder(path)) return
  // The folders are made one by one, because Node's recursive mkdir reports a read-only file system as a missing file.
  makeFolder(dirname(path))
  try {
    mkdirSync(path, 0o700)
  } catch (error) {
    if (!isFolder(path)) throw error
  }
  syncFolder(dirname(path))
}

/** Creates a folder like `makeFolder`; throws if a link leads from its path to another place. `path` must begin with a real path. */
export function makeFolderHere(path: string): void {
  makeFolder(path)
  const real = realpathSync(path)
  if (real !== path) throw new Error(`${path} leads to ${real} through a link, so nothing was written there`)
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Reads the facts about a path without following a link; undefined if nothing exists there, or if it cannot be examined. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export const isThere = (path: string) => lookAt(path) !== undefined

/** The text of a file; empty if the file is missing or cannot be read. */
export function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The names in a folder, in no particular order; empty if the folder is missing or cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Makes new, renamed and removed names in a folder durable. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Replaces a file as a whole: a reader finds the old content or the new one, even after a crash. */
export function replaceFile(path: string, body: string | Uint8Array, temporary = `${path}.tmp`, mode = 0o600): void {
  try {
    writeFileSync(temporary, body, { mode, flush: true })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}
