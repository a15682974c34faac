import type { RawPath, Repository } from './snapshot-repository.ts'
import type { Item } from './tree-diff.ts'
import type { Move, SkippedPath } from './undo-plan.ts'
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { onDisk, parentOf, readablePath, workFile } from './snapshot-repository.ts'
import { messageOf } from '../../base/error-message.ts'
import { randomName } from '../../base/id.ts'
import { errorCode, isMissing } from '../../base/files.ts'
import { writeObjects } from './git-objects.ts'

/** Copies files that were changed after the turn, and that the undo overwrites, to a folder where a person finds them. */
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
    // Deletions come first: a folder may stand where a restored file belongs, or a file where a restored folder does.
    for (const { path, target } of moves) if (!target) attempt(path, () => removeFile(repository.root, path))
    for (const { path, target, draft } of coming) attempt(path, () => placeFile(repository.root, path, target, draft))
    return left
  } finally {
    rmSync(drafts, { recursive: true, force: true })
  }
}

/** Says why a path could not be restored and stays as it is. */
class Blocked extends Error {
  override name = 'Blocked'
}

/** Deletes a file or link, and the folders that this leaves empty. */
function removeFile(root: string, path: RawPath): void {
  if (!checkFolders(root, path, false)) return
  try {
    unlinkSync(onDisk(root, path))
  } catch (error) {
    if (isMissing(error)) return
    throw blocked(error)
  }
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
    try {
      rmdirSync(onDisk(root, folder))
    } catch {
      return
    }
  }
}

/** Moves `draft` to its path in one step; an existing file keeps its read permissions. */
function placeFile(root: string, path: RawPath, item: Item, draft: string): void {
  checkFolders(root, path, true)
  const place = onDisk(root, path)
  try {
    const there = lstatSync(place, { throwIfNoEntry: false })
    if (there?.isDirectory()) removeEmptyFolders(place)
    if (item.mode === '120000') {
      if (there && !there.isDirectory()) unlinkSync(place)
      symlinkSync(readFileSync(draft), place)
      return
    }
    const mode = (there?.isFile() ? there : lstatSync(draft)).mode & 0o777
    chmodSync(draft, item.mode === '100755' ? mode | ((mode & 0o444) >> 2) : mode & ~0o111)
    moveFile(draft, place)
  } catch (error) {
    throw blocked(error)
  }
}

/** Removes a folder that holds only empty folders: git does not know of it, so it may stand where a file belongs. */
function removeEmptyFolders(folder: Buffer): void {
  for (const entry of readdirSync(folder, { encoding: 'buffer', withFileTypes: true })) {
    if (!entry.isDirectory()) throw new Blocked('a folder with other files stands in its place')
    removeEmptyFolders(Buffer.concat([folder, Buffer.from('/'), entry.name]))
  }
  rmdirSync(folder)
}

/** Renames the draft; between file systems it is first copied beside its place. */
function moveFile(draft: string, place: Buffer): void {
  try {
    renameSync(draft, place)
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error
    const beside = Buffer.concat([place.subarray(0, place.lastIndexOf(47) + 1), Buffer.from(`.${randomName()}`)])
    copyFileSync(draft, beside)
    renameSync(beside, place)
  }
}

/** Whether every folder above a path is a real folder, making missing ones if asked: a link could lead out of the project. */
function checkFolders(root: string, path: RawPath, make: boolean): boolean {
  const names = path.split('/').slice(0, -1)
  for (let depth = 1; depth <= names.length; depth++) {
    const folder = onDisk(root, names.slice(0, depth).join('/'))
    const there = lstatSync(folder, { throwIfNoEntry: false })
    if (there && !there.isDirectory()) {
      if (!make) return false
      throw new Blocked('a file or link stands in the place of its folder')
    }
    if (!there && !make) return false
    if (!there) mkdirSync(folder)
  }
  return true
}

function blocked(error: unknown): Blocked {
  return error instanceof Blocked ? error : new Blocked(messageOf(error))
}
