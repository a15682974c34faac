import { accessSync, constants, lstatSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { isMissing, replaceFile } from '../../base/files/files.ts'
import { UnusableConfig } from './config-format.ts'

/** Another program's settings file. `real` is its path without links; without `mode` the file does not exist yet. */
export type ConfigFile = { path: string; real: string; text: string; mode?: number }

/** Reads a settings file; a missing file counts as an empty one. */
export function readConfig(path: string, home: string): ConfigFile {
  const real = placeOf(path, home)
  const stat = statSync(real, { throwIfNoEntry: false })
  if (!stat) return { path, real, text: '' }
  if (!stat.isFile()) throw new UnusableConfig('is not a file')
  return { path, real, text: decodeConfig(readFileSync(real)), mode: stat.mode & 0o777 }
}

/** Throws if the file may not be written, so that the person is not asked in vain. */
export function refuseUnwritable({ real, mode }: ConfigFile): void {
  mayWrite(dirname(real), 'is in a folder that you may not write to')
  if (mode === undefined) return
  // Root could write a read-only file, but it is read-only for a reason.
  if ((mode & 0o200) === 0) throw new UnusableConfig('is read-only; make it writable first, if you want it changed')
  mayWrite(real, 'is not writable for you')
}

export const backupOf = ({ real }: ConfigFile) => `${real}.termaite.bak`

/** Reads the file as it was before our first change, if it existed. */
export function readBackup(file: ConfigFile): string | undefined {
  try {
    return decodeConfig(readFileSync(backupOf(file)))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Copies the file before our first change. */
export function keepBackup(file: ConfigFile): void {
  if (file.mode === undefined || readBackup(file) !== undefined) return
  replaceFile(backupOf(file), file.text, `${backupOf(file)}.tmp`, file.mode)
}

/** Writes the file, or deletes it if there is no text. Throws if it was changed since it was read. */
export function writeConfig(file: ConfigFile, text: string | undefined): void {
  const now = statSync(file.real, { throwIfNoEntry: false }) ? decodeConfig(readFileSync(file.real)) : undefined
  if ((now ?? '') !== file.text || (now === undefined) !== (file.mode === undefined))
    throw new UnusableConfig('was changed meanwhile; nothing was written, run the command again')
  if (text === undefined) rmSync(file.real)
  else replaceFile(file.real, text, `${file.real}.termaite.tmp`, file.mode)
}

/** Follows a link, so that the link stays, but not out of the person's home. */
function placeOf(path: string, home: string): string {
  const folder = dirname(path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UnusableConfig(
      `cannot be written: there is no folder ${folder} yet. Start the program once, then run this again`,
    )
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return join(realpathSync(folder), basename(path))
  let real: string
  try {
    real = realpathSync(path)
  } catch {
    throw new UnusableConfig('is a link to a file that does not exist')
  }
  if (!real.startsWith(realpathSync(home) + sep))
    throw new UnusableConfig(`is a link to ${real}, outside of your home; edit it there`)
  return real
}

function mayWrite(path: string, otherwise: string): void {
  try {
    accessSync(path, constants.W_OK)
  } catch {
    throw new UnusableConfig(otherwise)
  }
}

function decodeConfig(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new UnusableConfig('is not text (UTF-8)')
  }
}
