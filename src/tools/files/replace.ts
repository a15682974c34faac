import type { BigIntStats } from 'node:fs'
import { chmod, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomName } from '../../base/id.ts'

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
