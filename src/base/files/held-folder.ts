import type { FileHandle } from 'node:fs/promises'
import type { Dirent, Stats } from 'node:fs'
import { closeSync, constants, existsSync, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync } from 'node:fs'
import { realpathSync, statSync } from 'node:fs'
import { open, opendir } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { errorCode } from './files.ts'

/**
 * Thrown if a path leads to a place other than the one that was checked, because a folder or link on the way was replaced in the
 * meantime.
 */
export class MovedPath extends Error {
  override name = 'MovedPath'

  constructor(path: string) {
    super(`${path} leads somewhere other than when it was checked: a folder or link on its way was replaced meanwhile`)
  }
}

/**
 * Linux shows an open folder as a path (`/proc/self/fd/3`) that always leads to that folder, even if its name changes. On other systems a
 * folder is found by its name each time, and compared before and after each use.
 */
const byDescriptor = process.platform === 'linux' && existsSync('/proc/self/fd')

/** The path under which a program finds an open file that it got as this descriptor. */
export const descriptorPath = (fd: number): string => (byDescriptor ? `/proc/self/fd/${fd}` : `/dev/fd/${fd}`)

/** Opens a folder only for naming its entries, which needs no permission to list it; Node has no name for this flag of Linux. */
const O_PATH = byDescriptor ? 0o10000000 : 0

const openAsFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH

/**
 * A folder that is held open, so that replacing it, or a folder above it, by a link has no effect: a check of a path by its name says
 * nothing about the file that a later call opens by that name.
 */
export class HeldFolder {
  readonly real: string
  #fd: number

  private constructor(real: string, fd: number) {
    this.real = real
    this.#fd = fd
  }

  /** Opens the folder at a real path; throws a MovedPath if another folder is found there. */
  static open(real: string): HeldFolder {
    const folder = new HeldFolder(real, folderAt(Buffer.from(real), real))
    try {
      folder.check()
      if (byDescriptor && readlinkSync(`/proc/self/fd/${folder.#fd}`) !== real) throw new MovedPath(real)
      return folder
    } catch (error) {
      folder.close()
      throw error
    }
  }

  /** Opens the folder at a real path, and creates it and the folders above it if they are missing. */
  static make(real: string): HeldFolder {
    const missing: string[] = []
    let there = real
    for (; !lstatSync(there, { throwIfNoEntry: false }); there = dirname(there)) missing.unshift(basename(there))
    let folder = HeldFolder.open(there)
    for (const name of missing) {
      const above = folder
      try {
        folder = above.child(name, true)
      } finally {
        above.close()
      }
    }
    return folder
  }

  /**
   * Opens a folder inside this one, and with `make` creates it. Throws a system error if it is missing, and a MovedPath if it is a link.
   */
  child(name: string | Uint8Array, make = false): HeldFolder {
    const path = this.at(name)
    const real = join(this.real, Buffer.from(name).toString())
    if (make)
      try {
        mkdirSync(path)
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') throw error
      }
    const folder = new HeldFolder(real, folderAt(path, real))
    try {
      this.check()
      return folder
    } catch (error) {
      folder.close()
      throw error
    }
  }

  /** The path of a name in this folder, for one call of the file system that does not follow the name itself. */
  at(name: string | Uint8Array): Buffer {
    const folder = byDescriptor ? `/proc/self/fd/${this.#fd}` : this.real
    this.check()
    return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)])
  }

  /** Opens a file in this folder with these flags; if the name is a link, it is not followed, and a pipe is opened without waiting. */
  async openFile(name: string, flags: number, mode?: number): Promise<FileHandle> {
    const file = await open(this.at(name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode).catch((error) => {
      throw errorCode(error) === 'ELOOP' ? new MovedPath(join(this.real, name)) : error
    })
    try {
      this.check()
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** The names in this folder with their kinds, in no order; the rest of a longer folder is not read. */
  async entries(most = Infinity): Promise<Dirent[]> {
    const found: Dirent[] = []
    for await (const entry of await opendir(this.at('.').toString())) {
      if (found.length === most) break
      found.push(entry)
    }
    this.check()
    return found
  }

  /** The size, times and kind of the item with this name; a link is not followed. Undefined if there is no such item. */
  stats(name: string): Stats | undefined {
    const stats = lstatSync(this.at(name), { throwIfNoEntry: false })
    this.check()
    return stats
  }

  /** Throws a MovedPath if the folder's name now leads to another folder. Only needed on systems that find a folder by its name. */
  check(): void {
    if (byDescriptor) return
    const [held, now] = [fstatSync(this.#fd), statSync(this.real, { throwIfNoEntry: false })]
    const same = now !== undefined && held.dev === now.dev && held.ino === now.ino
    if (!same || realpathSync.native(this.real) !== this.real) throw new MovedPath(this.real)
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/**
 * A folder and all folders below it. Each one is opened from the one above it and no link is followed, so that a path from another
 * program cannot lead elsewhere. The folders on the way to the last path stay open for the next one.
 */
export class HeldTree {
  #folders: HeldFolder[]
  #names: string[] = []

  private constructor(top: HeldFolder) {
    this.#folders = [top]
  }

  /** Opens the tree at a real path; throws a MovedPath if another folder is found there. */
  static open(real: string): HeldTree {
    return new HeldTree(HeldFolder.open(real))
  }

  /**
   * The open folder of a file below the top, by the file's path relative to it; valid until the next call. Undefined if a folder on the
   * way is missing, inaccessible, or a link.
   */
  folderOf(path: string): HeldFolder | undefined {
    const names = path.split(sep).slice(0, -1)
    const same = names.findIndex((name, at) => name !== this.#names[at])
    this.#leave(same < 0 ? names.length : same)
    for (const name of names.slice(this.#names.length)) {
      if (name === '' || name === '.' || name === '..') return undefined
      try {
        this.#folders.push(this.#folders.at(-1)!.child(name))
      } catch {
        return undefined
      }
      this.#names.push(name)
    }
    return this.#folders.at(-1)
  }

  close(): void {
    this.#leave(-1)
  }

  #leave(depth: number): void {
    for (const folder of this.#folders.splice(depth + 1)) folder.close()
    this.#names.splice(Math.max(depth, 0))
  }
}

function folderAt(path: Buffer, real: string): number {
  try {
    return openSync(path, openAsFolder)
  } catch (error) {
    // For a link, the system says that it is not a folder.
    const code = errorCode(error)
    const isLink = code === 'ENOTDIR' && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    throw isLink || code === 'ELOOP' ? new MovedPath(real) : error
  }
}

/** Opens the file at a real path for reading; throws a MovedPath if that path now leads to another file. */
export async function openReal(real: string): Promise<FileHandle> {
  const folder = HeldFolder.open(dirname(real))
  try {
    return await folder.openFile(basename(real), constants.O_RDONLY)
  } finally {
    folder.close()
  }
}
