import type { BigIntStats } from 'node:fs'
import type { FileChange } from '../../core/talk/entry.ts'
import { chmod, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomName } from '../../base/id.ts'

/** A change that is longer than this is shown only where it changes something. */
const longestSide = 24 * 1024

const context = 3

/** A change as it is kept with its result: two whole texts, or, of long ones, what lies around the change. */
export function shownChange(path: string, before: string | undefined, after: string): FileChange {
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
 * Puts a new body in the place of an old one and keeps its mode: a full disk or a crash leaves the old one whole.
 * A file with several names or of another owner is written where it is, so that it stays theirs.
 */
export async function replaceBody(real: string, body: Uint8Array, was: BigIntStats): Promise<BigIntStats> {
  if (was.nlink > 1n || Number(was.uid) !== process.getuid?.()) {
    await writeFile(real, body, { flush: true })
    return stat(real, { bigint: true })
  }
  return putInPlace(real, body, Number(was.mode) & 0o7777)
}

/** Puts a file under its name at once, over whatever had that name, a link too. */
export async function putInPlace(path: string, body: string | Uint8Array, mode?: number): Promise<BigIntStats> {
  const temporary = join(dirname(path), `.termaite-${randomName()}.tmp`)
  try {
    // `wx` follows no link that somebody laid there.
    const file = await open(temporary, 'wx', 0o666)
    try {
      await file.writeFile(body)
      await file.sync()
    } finally {
      await file.close()
    }
    // The mode of a new file is bent by the umask; one that was chosen is not.
    if (mode !== undefined) await chmod(temporary, mode)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  return stat(path, { bigint: true })
}
