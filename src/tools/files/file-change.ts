import type { BigIntStats } from 'node:fs'
import type { FileChange } from '../../core/talk/entry.ts'
import { constants } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { HeldFolder, MovedPath } from '../../base/held-folder.ts'
import { randomName } from '../../base/id.ts'

/** Of a longer text only the lines around the change are kept. */
const longestSide = 24 * 1024

const context = 3

/** A change as it is kept with the tool's result: both whole texts, or the lines around the change if they are long. */
export function fileChange(path: string, before: string | undefined, after: string): FileChange {
  if (before === undefined) return { path, after: cutAfter(after) }
  if (before.length <= longestSide && after.length <= longestSide) return { path, before, after }
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  const most = Math.min(old.length, fresh.length) - head
  while (tail < most && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++
  const around = (lines: readonly string[]) => {
    const from = Math.max(0, head - context)
    const to = Math.min(lines.length, lines.length - tail + context)
    const above = from > 0 ? ['⋮'] : []
    const below = to < lines.length ? ['⋮'] : []
    return cutAfter([...above, ...lines.slice(from, to), ...below].join('\n'))
  }
  return { path, before: around(old), after: around(fresh) }
}

function cutAfter(text: string): string {
  return text.length <= longestSide ? text : `${text.slice(0, longestSide)}\n⋮`
}

/**
 * Replaces a file's content and keeps its mode; a full disk or a crash leaves the old content whole.
 * A file with several hard links, or of another owner, is overwritten in place, so that links and owner stay.
 */
export async function replaceContent(real: string, body: Uint8Array, was: BigIntStats): Promise<BigIntStats> {
  if (was.nlink === 1n && Number(was.uid) === process.getuid?.())
    return writeAtomically(real, body, Number(was.mode) & 0o7777)
  const folder = HeldFolder.open(dirname(real))
  try {
    const file = await folder.openFile(basename(real), constants.O_WRONLY)
    try {
      const now = await file.stat({ bigint: true })
      if (now.dev !== was.dev || now.ino !== was.ino) throw new MovedPath(real)
      await file.truncate()
      await file.writeFile(body)
      await file.sync()
      return await file.stat({ bigint: true })
    } finally {
      await file.close()
    }
  } finally {
    folder.close()
  }
}

/** Writes a file beside its place and renames it there in one step, replacing a file or link of that name. */
export async function writeAtomically(real: string, body: string | Uint8Array, mode?: number): Promise<BigIntStats> {
  const folder = HeldFolder.open(dirname(real))
  const temporary = `.termaite-${randomName()}.tmp`
  try {
    // O_EXCL fails instead of following a link that somebody placed there.
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
    const file = await folder.openFile(temporary, flags, 0o666)
    try {
      await file.writeFile(body)
      // The umask changes the mode of a new file, so a wanted mode is set explicitly.
      if (mode !== undefined) await file.chmod(mode)
      await file.sync()
      await rename(folder.at(temporary), folder.at(basename(real)))
      return await file.stat({ bigint: true })
    } catch (error) {
      await rm(folder.at(temporary), { force: true })
      throw error
    } finally {
      await file.close()
    }
  } finally {
    folder.close()
  }
}
