import type { RawPath } from './paths.ts'
import type { Item } from './tree-diff.ts'
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { wordsOf } from '../../base/words.ts'
import { randomName } from '../../base/id.ts'
import { errorCode, isMissing } from '../../base/files.ts'
import { onDisk, parentOf } from './paths.ts'

/** A path that stays as it is, and why. */
export class Blocked extends Error {
  override name = 'Blocked'
}

/** Takes a file or link away, and the folders that are empty without it. */
export function removeFile(root: string, path: RawPath): void {
  if (!clearWay(root, path, false)) return
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

/** Puts what was written to `draft` at its path, in one move; a file that is there keeps who may read it. */
export function placeFile(root: string, path: RawPath, item: Item, draft: string): void {
  clearWay(root, path, true)
  const place = onDisk(root, path)
  try {
    const there = lstatSync(place, { throwIfNoEntry: false })
    if (there?.isDirectory()) removeHollow(place)
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

/** Git does not know of folders without files, so one may stand where a file was. */
function removeHollow(folder: Buffer): void {
  for (const entry of readdirSync(folder, { encoding: 'buffer', withFileTypes: true })) {
    if (!entry.isDirectory()) throw new Blocked('a folder with other files stands in its place')
    removeHollow(Buffer.concat([folder, Buffer.from('/'), entry.name]))
  }
  rmdirSync(folder)
}

/** Between file systems a move is a copy beside the place, then a rename. */
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

/** Whether every folder above a path is there and real: through a link we would write into somebody else's tree. */
function clearWay(root: string, path: RawPath, make: boolean): boolean {
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
  return error instanceof Blocked ? error : new Blocked(wordsOf(error))
}
