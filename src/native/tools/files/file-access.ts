import type { FileHandle } from 'node:fs/promises'
import type { BigIntStats } from 'node:fs'
import type { ToolCall } from '../../../core/work/tool.ts'
import { realpath } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { errorCode } from '../../../base/files/files.ts'
import { HeldFolder, MovedPath, openReal } from '../../../base/files/held-folder.ts'
import { isWithin } from '../../../base/files/real-path.ts'
import { nearest } from '../../../base/text/nearest.ts'
import { messageOf } from '../../../base/error-message.ts'

/** An open file, its path without links, and its size and times. */
export type OpenFile = { file: FileHandle; real: string; stats: BigIntStats }

/** Opens a file for reading; the caller closes it. Throws an error that tells the model what to try instead. */
export async function openFile(path: string, call: Pick<ToolCall, 'cwd' | 'places'>): Promise<OpenFile> {
  const at = resolve(call.cwd, path)
  const trouble = async (error: unknown) => new Error(await openTrouble(error, at, path, call))
  const real = await realpath(at).catch(async (error) => {
    throw await trouble(error)
  })
  mustBeJudged(at, real, call)
  const file = await openReal(real).catch(async (error) => {
    throw await trouble(error)
  })
  try {
    const stats = await file.stat({ bigint: true })
    if (stats.isDirectory()) throw new Error(`${path} is a folder: use ls to see what is in it.`)
    if (!stats.isFile()) throw new Error(`${path} is a pipe, a socket or a device, not a file to read.`)
    return { file, real, stats }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Throws if a path leads to a place other than the one that the policy judged. */
export function mustBeJudged(at: string, real: string, { places = [] }: Pick<ToolCall, 'places'>): void {
  const judged = places.find(({ path }) => path === at)
  if (judged && judged.real !== real) throw new MovedPath(at)
}

/** Says why a path could not be opened, and what to try instead. */
export async function openTrouble(
  error: unknown,
  at: string,
  path: string,
  call: Pick<ToolCall, 'cwd' | 'places'>,
): Promise<string> {
  if (error instanceof MovedPath) return messageOf(error)
  const code = errorCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return `${path} does not exist. ${await suggestion(at, call)}`
  if (code === 'EACCES' || code === 'EPERM') return `${path} cannot be opened: permission denied.`
  if (code === 'ELOOP') return `${path} is a link that leads in a circle.`
  return `${path} could not be opened: ${messageOf(error)}.`
}

async function suggestion(at: string, { cwd, places = [] }: Pick<ToolCall, 'cwd' | 'places'>): Promise<string> {
  const folder = dirname(at)
  const here = samePathIn(cwd, at)
  if (here !== undefined) return `Did you mean ${here}?`
  try {
    const real = await realpath(folder)
    const judged = places.find(({ path }) => path === at)?.real
    const near = nearest(basename(at), await namesIn(real, judged ? dirname(judged) : await realpath(cwd)))
    if (near) return `Did you mean ${join(folder, near)}?`
    return `Its folder exists: use ls or glob to find what you need.`
  } catch {
    return `Its folder ${folder} does not exist either: use glob to find what you need.`
  }
}

/** The names in a folder, if it is the judged folder or is inside it; names in other folders are private. */
async function namesIn(real: string, judged: string): Promise<string[]> {
  if (!isWithin(judged, real)) return []
  const folder = HeldFolder.open(real)
  const entries = await folder.entries().finally(() => folder.close())
  return entries.map(({ name }) => name).sort()
}

/** The file or folder in the working folder whose path ends like this one: models invent the folders above a project. */
function samePathIn(cwd: string, at: string): string | undefined {
  const parts = at.split(sep).filter((part) => part !== '')
  const places = parts.map((_part, i) => join(cwd, ...parts.slice(i)))
  return places.find((place) => place !== at && existsSync(place))
}

/** Remembers which files an agent has read: an edit is safe only on a file that was read and has not changed since. */
export class ReadFiles {
  #stamps = new Map<string, string>()

  remember(real: string, stats: BigIntStats): void {
    this.#stamps.set(real, stamp(stats))
  }

  /** Compares a file with the version that was read. */
  compare(real: string, stats: BigIntStats): 'same' | 'changed' | 'unseen' {
    const known = this.#stamps.get(real)
    return known === undefined ? 'unseen' : known === stamp(stats) ? 'same' : 'changed'
  }
}

const stamp = ({ dev, ino, size, mtimeNs }: BigIntStats) => `${dev}:${ino}:${size}:${mtimeNs}`
