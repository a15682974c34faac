import { chmodSync, closeSync, constants, cpSync, existsSync, lstatSync, openSync } from 'node:fs'
import { readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { errorCode, makeFolder, namesIn } from '../../base/files/files.ts'
import { randomName } from '../../base/id.ts'
import { isWithin, realIfThere } from '../../base/files/real-path.ts'

/**
 * Files of a project that one command left and that were moved away, by their paths in the project; their position in the list is their
 * name in the quarantine.
 */
export type Quarantined = { id: string; root: string; at: number; files: string[] }

const recordName = 'record.json'

/** The folder of everything that was moved away, in termaite's home. */
const quarantineIn = (own: string) => join(own, 'quarantine')

/**
 * Moves files of a project to the quarantine. Returns the moved files, and the paths that could not be moved because another command may
 * be changing their folder.
 */
export function takeAway(
  own: string,
  root: string,
  paths: readonly string[],
): { taken: Quarantined | undefined; left: string[] } {
  const id = randomName().slice(0, 8)
  const folder = join(quarantineIn(own), id)
  const files: string[] = []
  const left: string[] = []
  for (const path of paths) {
    makeFolder(folder)
    const place = join(folder, String(files.length))
    if (!inFolder(path, (held) => move(held, place))) {
      left.push(path)
      continue
    }
    files.push(relative(root, path))
  }
  if (files.length === 0) {
    rmSync(folder, { recursive: true, force: true })
    return { taken: undefined, left }
  }
  const taken = { id, root, at: Date.now(), files }
  writeFileSync(join(folder, recordName), JSON.stringify(taken), { mode: 0o600 })
  return { taken, left }
}

/** Everything in the quarantine, newest first. */
export function quarantineEntries(own: string): Quarantined[] {
  const all = namesIn(quarantineIn(own)).flatMap((id) => recordOf(own, id) ?? [])
  return all.sort((a, b) => b.at - a.at)
}

/** Permanently deletes the files of a project from the quarantine. */
export function emptyQuarantine(own: string, root: string): void {
  for (const { id } of quarantineEntries(own).filter((taken) => taken.root === root)) {
    const folder = join(quarantineIn(own), id)
    // A command may have made a folder in it inaccessible.
    openAll(folder)
    rmSync(folder, { recursive: true, force: true })
  }
}

function recordOf(own: string, id: string): Quarantined | undefined {
  try {
    return JSON.parse(readFileSync(join(quarantineIn(own), id, recordName), 'utf8')) as Quarantined
  } catch {
    return undefined
  }
}

/**
 * Puts files back into their places. If a file exists there now, the two are exchanged, and the existing one goes to the quarantine.
 * Returns the paths of the files that were put back and of those that were not.
 */
export function putBack(own: string, { id, root, files }: Quarantined): { back: string[]; left: string[] } {
  const folder = join(quarantineIn(own), id)
  const there = files.map((file) => join(root, file)).filter((path) => lookAt(path) !== undefined)
  takeAway(own, root, there)
  const back: string[] = []
  const left: string[] = []
  for (const [at, file] of files.entries()) {
    const place = join(folder, String(at))
    const path = join(root, file)
    const isBack =
      lookAt(place) !== undefined && madeFolder(root, dirname(path)) && inFolder(path, (held) => move(place, held))
    ;(isBack ? back : left).push(path)
  }
  if (left.length === 0) rmSync(folder, { recursive: true, force: true })
  return { back, left }
}

/** Creates a folder of the project; false if a link leads out of the project. */
function madeFolder(root: string, folder: string): boolean {
  let at = folder
  while (!existsSync(at)) at = dirname(at)
  const real = realIfThere(at)
  if (real === undefined || real !== at || !isWithin(root, real)) return false
  makeFolder(folder)
  return true
}

function lookAt(path: string) {
  return lstatSync(path, { throwIfNoEntry: false })
}

/** Moves a file or folder. A command may have made it or the folder around it inaccessible: both are opened then. */
function move(from: string, to: string): void {
  inOpenFolder(
    dirname(from),
    () => moveOpen(from, to),
    () => lookAt(from)?.isDirectory() && openFolder(from),
  )
}

/** Acts inside a folder; if the folder is inaccessible, it is opened first, and `more` is called. */
function inOpenFolder(folder: string, act: () => void, more?: () => void): void {
  try {
    act()
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error
    openFolder(folder)
    more?.()
    act()
  }
}

function moveOpen(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error
    copy(from, to)
  }
}

/** Moves a file or folder to another file system. Pipes and sockets cannot be copied, and no process uses them any more. */
function copy(from: string, to: string): void {
  openAll(from)
  const isCopied = (path: string) => {
    const there = lookAt(path)
    return there !== undefined && (there.isFile() || there.isDirectory() || there.isSymbolicLink())
  }
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, errorOnExist: true, filter: isCopied })
  rmSync(from, { recursive: true, force: true })
}

/** Lets this user read and change a folder of their own. */
function openFolder(folder: string): void {
  chmodSync(folder, (statSync(folder).mode & 0o777) | 0o700)
}

function openAll(path: string): void {
  const there = lookAt(path)
  if (there?.isFile()) chmodSync(path, (there.mode & 0o777) | 0o600)
  if (!there?.isDirectory()) return
  openFolder(path)
  for (const name of namesIn(path)) openAll(join(path, name))
}

/** Renames a file whose name is not text, in the same folder; returns its new path. */
export function withTextName({ path, bytes }: { path: string; bytes?: Buffer }): string {
  if (!bytes) return path
  const free = lookAt(path) ? `${path}-${randomName()}` : path
  inFolder(free, (held) => {
    const folder = dirname(held)
    inOpenFolder(folder, () => renameSync(Buffer.concat([Buffer.from(`${folder}/`), bytes]), held))
  })
  return free
}

/**
 * Acts on a file by a path through its open folder; fails if that folder was moved: another command of the turn could replace it by a
 * link to a folder outside the project.
 */
export function inFolder(path: string, act: (held: string) => void): boolean {
  const folder = dirname(path)
  let fd: number | undefined
  try {
    fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    if (readlinkSync(`/proc/self/fd/${fd}`) !== folder) return false
    act(`/proc/self/fd/${fd}/${basename(path)}`)
    return true
  } catch {
    return false
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
