import type { RawPath, Repository } from './snapshot-repository.ts'
import type { Item } from './tree-diff.ts'
import type { Move, SkippedPath } from './undo-plan.ts'
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { onDisk, parentOf, readablePath, workFile } from './snapshot-repository.ts'
import { HeldFolder, MovedPath } from '../../base/files/held-folder.ts'
import { messageOf } from '../../base/error-message.ts'
import { randomName } from '../../base/id.ts'
import { errorCode, isMissing } from '../../base/files/files.ts'
import { writeObjects } from './git-objects.ts'

/** Copies files that were changed after the turn, and that the undo overwrites, to a folder where a person can find them. */
export async function copyConflicts(repository: Repository, moves: readonly Move[], folder: string): Promise<string[]> {
  const found = moves.flatMap(({ path, found, conflict }) => (conflict && found ? [{ path, id: found.id }] : []))
  for (const { path } of found) mkdirSync(onDisk(folder, parentOf(path)), { recursive: true, mode: 0o700 })
  await writeObjects(
    repository,
    found.map(({ path, id }) => ({ id, place: onDisk(folder, path) })),
  )
  return found.map(({ path }) => readablePath(path))
}

/** Restores and deletes files. All contents are read first, so that a damaged store or a full disk leaves the project untouched. */
export async function restoreFiles(repository: Repository, moves: readonly Move[]): Promise<SkippedPath[]> {
  const drafts = workFile(repository)
  mkdirSync(drafts)
  try {
    const coming = moves.flatMap(({ path, target }, i) =>
      target ? [{ path, target, draft: join(drafts, String(i)) }] : [],
    )
    await writeObjects(
      repository,
      coming.map(({ target, draft }) => ({ id: target.id, place: draft })),
    )
    const left: SkippedPath[] = []
    const attempt = (path: RawPath, act: () => void) => {
      try {
        act()
      } catch (error) {
        if (!(error instanceof Blocked)) throw error
        left.push({ path: readablePath(path), why: error.message })
      }
    }
    // Deletions come first: a folder may be in the place of a restored file, or a file in the place of a restored folder.
    for (const { path, target } of moves) if (!target) attempt(path, () => removeFile(repository.root, path))
    for (const { path, target, draft } of coming) attempt(path, () => placeFile(repository.root, path, target, draft))
    return left
  } finally {
    rmSync(drafts, { recursive: true, force: true })
  }
}

/** The reason why a path could not be restored and stays as it is. */
class Blocked extends Error {
  override name = 'Blocked'
}

/** Deletes a file or link, and the folders that this leaves empty. */
function removeFile(root: string, path: RawPath): void {
  const folders = openFolders(root, path, false)
  if (!folders) return
  try {
    unlinkSync(folders.at(-1)!.at(nameOf(path)))
    for (const [depth, name] of [...folderNames(path).entries()].reverse())
      if (!isRemoved(folders[depth]!.at(Buffer.from(name, 'latin1')))) return
  } catch (error) {
    if (!isMissing(error)) throw blocked(error)
  } finally {
    for (const folder of folders) folder.close()
  }
}

/** Removes a folder if it is empty. */
function isRemoved(folder: Buffer): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch {
    return false
  }
}

/** Moves `draft` to its path in one step; an existing file keeps its read permissions. */
function placeFile(root: string, path: RawPath, item: Item, draft: string): void {
  const folders = openFolders(root, path, true)!
  const folder = folders.at(-1)!
  const name = nameOf(path)
  const place = folder.at(name)
  try {
    const there = lstatSync(place, { throwIfNoEntry: false })
    if (there?.isDirectory()) removeEmptyFolders(folder, name)
    if (item.mode === '120000') {
      if (there && !there.isDirectory()) unlinkSync(place)
      symlinkSync(readFileSync(draft), place)
      return
    }
    const mode = (there?.isFile() ? there : lstatSync(draft)).mode & 0o777
    chmodSync(draft, item.mode === '100755' ? mode | ((mode & 0o444) >> 2) : mode & ~0o111)
    moveFile(draft, folder, name)
  } catch (error) {
    throw blocked(error)
  } finally {
    for (const one of folders) one.close()
  }
}

/** Removes a folder that contains only empty folders: git does not record it, so it may be in the place of a file. */
function removeEmptyFolders(above: HeldFolder, name: Buffer): void {
  const folder = above.child(name)
  try {
    for (const entry of readdirSync(folder.at('.'), { encoding: 'buffer', withFileTypes: true })) {
      if (!entry.isDirectory()) throw new Blocked('a folder with other files is in its place')
      removeEmptyFolders(folder, entry.name)
    }
  } finally {
    folder.close()
  }
  rmdirSync(above.at(name))
}

/** Renames the draft; between two file systems it is first copied next to its place. */
function moveFile(draft: string, folder: HeldFolder, name: Buffer): void {
  try {
    renameSync(draft, folder.at(name))
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error
    const beside = folder.at(`.${randomName()}`)
    copyFileSync(draft, beside, constants.COPYFILE_EXCL)
    renameSync(beside, folder.at(name))
  }
}

const folderNames = (path: RawPath) => path.split('/').slice(0, -1)
const nameOf = (path: RawPath) => Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'latin1')

/**
 * Opens the project's folder and every folder on the way to a path, and with `make` creates the missing ones. Undefined if one is missing
 * or is not a folder: a link could lead out of the project, even one that is created at this moment.
 */
function openFolders(root: string, path: RawPath, make: boolean): HeldFolder[] | undefined {
  const folders = [HeldFolder.open(realpathSync(root))]
  try {
    for (const name of folderNames(path)) folders.push(folders.at(-1)!.child(Buffer.from(name, 'latin1'), make))
    return folders
  } catch (error) {
    for (const folder of folders) folder.close()
    const noFolder = error instanceof MovedPath || errorCode(error) === 'ENOTDIR'
    if (!make && (noFolder || isMissing(error))) return undefined
    throw new Blocked(noFolder ? 'a file or link is in the place of its folder' : messageOf(error))
  }
}

function blocked(error: unknown): Blocked {
  return error instanceof Blocked ? error : new Blocked(messageOf(error))
}
