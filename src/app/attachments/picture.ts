import { open } from 'node:fs/promises'
import { constants } from 'node:fs'
import { pictureMedia, sizeWords } from '../../tools/files/media.ts'

/** What models take at most of one. */
const longestPicture = 5 * 1024 * 1024

export type Picture = { media: string; bytes: Buffer }

/** A picture that a model can see; undefined when the file is none, throws words when it is too large. */
export async function pictureIn(path: string): Promise<Picture | undefined> {
  // Never waits: what was a file when it was looked at may be a pipe by now.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    const media = pictureMedia(buffer.subarray(0, bytesRead))
    if (media === undefined) return undefined
    if (size > longestPicture)
      throw new Error(`a picture of ${sizeWords(size)} is too large; scale it below ${sizeWords(longestPicture)}`)
    const bytes = Buffer.alloc(size)
    const read = await file.read(bytes, 0, size, 0)
    return { media, bytes: bytes.subarray(0, read.bytesRead) }
  } finally {
    await file.close()
  }
}
