import type { FileHandle } from 'node:fs/promises'
import type { BigIntStats } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { constants } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errorCode } from '../../base/files.ts'
import { nearest } from '../../base/nearest.ts'
import { messageOf } from '../../base/error-message.ts'

/** A file that is open, and where it really is. */
export type Opened = { file: FileHandle; real: string; stats: BigIntStats }

/** Opens a file to be read; throws words that say what to do when there is none. The caller closes it. */
export async function openFile(cwd: string, path: string): Promise<Opened> {
  const at = resolve(cwd, path)
  // Never waits: what is named may be a pipe.
  const file = await open(at, constants.O_RDONLY | constants.O_NONBLOCK).catch(async (error) => {
    throw new Error(await trouble(error, at, path))
  })
  try {
    const stats = await file.stat({ bigint: true })
    if (stats.isDirectory()) throw new Error(`${path} is a folder: use ls to see what is in it.`)
    if (!stats.isFile()) throw new Error(`${path} is a pipe, a socket or a device, and no file that could be read.`)
    return { file, real: await realpath(at), stats }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Why a path could not be opened, and what to try instead. */
export async function trouble(error: unknown, at: string, path: string): Promise<string> {
  const code = errorCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return `${path} does not exist. ${await instead(at)}`
  if (code === 'EACCES' || code === 'EPERM') return `${path} may not be opened: permission denied.`
  if (code === 'ELOOP') return `${path} is a link that leads in a circle.`
  return `${path} could not be opened: ${messageOf(error)}.`
}

async function instead(at: string): Promise<string> {
  const folder = dirname(at)
  try {
    const near = nearest(basename(at), await readdir(folder))
    if (near) return `Did you mean ${join(folder, near)}?`
    return `Its folder does: use ls or glob to find what you need.`
  } catch {
    return `Nor does its folder ${folder}: use glob to find what you need.`
  }
}

/** What a seat has seen of files: an edit is only safe on what was read, and did not change since. */
export class Seen {
  #stamps = new Map<string, string>()

  saw(real: string, stats: BigIntStats): void {
    this.#stamps.set(real, stamp(stats))
  }

  /** Whether the file is as it was seen. */
  still(real: string, stats: BigIntStats): 'same' | 'changed' | 'unseen' {
    const known = this.#stamps.get(real)
    return known === undefined ? 'unseen' : known === stamp(stats) ? 'same' : 'changed'
  }
}

const stamp = ({ dev, ino, size, mtimeNs }: BigIntStats) => `${dev}:${ino}:${size}:${mtimeNs}`
