import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { isMissing } from '../base/files/files.ts'
import { messageOf } from '../base/error-message.ts'

/** The text of a file up to a limit, its real path, and the size of the whole file. */
type FileBody = { real: string; text: string; bytes: number }

/**
 * Reads a text file that a stranger may have planted: never waits for a pipe or a device, follows no link out of `within`, and reads at
 * most `limit` bytes. Undefined if there is no file; a text with the reason if it is not read.
 */
export function readUntrustedFile(path: string, limit: number, within?: string): FileBody | string | undefined {
  let fd: number | undefined
  try {
    const real = realpathSync(path)
    if (within !== undefined && !isInside(real, within)) return `it leads out of the project, to ${real}`
    fd = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    const stat = fstatSync(fd)
    if (!stat.isFile()) return 'it is not a regular file'
    const buffer = Buffer.alloc(Math.min(stat.size, limit))
    const text = decodeText(buffer.subarray(0, fillBuffer(fd, buffer)))
    return text.includes('\0') ? 'it is not text' : { real, text, bytes: stat.size }
  } catch (error) {
    return isMissing(error) ? undefined : messageOf(error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

export const isInside = (real: string, folder: string) =>
  real === folder || real.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

/** Fills the buffer from the file and returns the number of bytes read. */
function fillBuffer(fd: number, buffer: Buffer): number {
  let at = 0
  while (at < buffer.length) {
    const got = readSync(fd, buffer, at, buffer.length - at, at)
    if (got === 0) break
    at += got
  }
  return at
}

/** Decodes by the byte order mark, which is dropped; a character that is cut at the end is left out. */
function decodeText(bytes: Buffer): string {
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe
  return new TextDecoder(wide ? 'utf-16le' : 'utf-8').decode(bytes, { stream: true })
}

/** The longest beginning of a text that fits into this many bytes without cutting a character. */
export function fitting(text: string, bytes: number): string {
  const whole = Buffer.from(text)
  if (whole.length <= bytes) return text
  let end = Math.max(0, bytes)
  while (end > 0 && (whole[end]! & 0xc0) === 0x80) end--
  return whole.toString('utf8', 0, end)
}
