import { constants, existsSync, promises } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomName } from './id.ts'
import { pictureExtension } from './picture.ts'

/** The folder of the pictures that agents may open by their path, next to the stored bodies. */
export const pictureFolder = (place: string) => join(dirname(place), 'pictures')

/**
 * Copies a stored picture to a file whose name shows its type to programs, and returns its path. An agent may change the copy; the stored
 * picture stays. Undefined if that fails.
 */
export async function pictureFile(place: string | undefined, sha: string, media: string): Promise<string | undefined> {
  if (place === undefined) return undefined
  const folder = pictureFolder(place)
  const path = join(folder, `${sha.slice(0, 16)}${pictureExtension(media)}`)
  if (existsSync(path)) return path
  try {
    await promises.mkdir(folder, { recursive: true, mode: 0o700 })
    const part = join(folder, `part-${randomName()}`)
    await promises.copyFile(place, part, constants.COPYFILE_FICLONE)
    await promises.rename(part, path)
    return path
  } catch {
    return undefined
  }
}
