import { copyFile, link, mkdir, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomName } from './id.ts'
import { pictureExtension } from './picture.ts'

/** The folder of the pictures that agents may open by their path, beside the kept bodies. */
export const pictureFolder = (place: string) => join(dirname(place), 'pictures')

/**
 * Gives a kept picture a name by which programs know what it is, and returns the path. The picture gets no second copy where
 * the file system can link. Undefined when that fails.
 */
export async function pictureFile(place: string | undefined, sha: string, media: string): Promise<string | undefined> {
  if (place === undefined) return undefined
  const folder = pictureFolder(place)
  const path = join(folder, `${sha.slice(0, 16)}${pictureExtension(media)}`)
  if (existsSync(path)) return path
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const part = join(folder, `part-${randomName()}`)
    await link(place, part).catch(() => copyFile(place, part))
    await rename(part, path)
    await rm(part, { force: true })
    return path
  } catch {
    return undefined
  }
}
