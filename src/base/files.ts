import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** What a system call said went wrong, as its short name; undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

export const isMissing = (error: unknown) => errorCode(error) === 'ENOENT'

/** Creates a folder that only its owner can open, and the ones above it; what was there stays as it is. */
export function makeFolder(path: string): void {
  if (isFolder(path)) return
  // One by one: Node's own recursive way calls a read-only file system a missing file.
  makeFolder(dirname(path))
  try {
    mkdirSync(path, 0o700)
  } catch (error) {
    if (!isFolder(path)) throw error
  }
  syncFolder(dirname(path))
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** A new, renamed or removed name is durable only once its folder is. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Replaces a file whole: a reader, or a crash at any moment, finds the old one or the new one. */
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
