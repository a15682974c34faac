import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { isPlainObject } from '../../base/plain-object.ts'

/**
 * The parts of a file that could not be read: lines that are not records, lines that are too long, and whether the file is longer than
 * the limit.
 */
export type Unread = { broken: number; long: number; cut: boolean }

export type Limits = { line: number; file: number }

/** The longest lines contain pictures; a session of a whole day has several megabytes. */
const usualLimits: Limits = { line: 32 * 1024 * 1024, file: 256 * 1024 * 1024 }

const chunkBytes = 1024 * 1024
const newline = 0x0a

/**
 * Yields the records of a file, one for each line. The file belongs to another program: links, devices and pipes are not opened, and
 * lines that are too long or not records are skipped and counted. A last line without a newline that is not a record yet is still being
 * written.
 */
export async function* recordsOf(
  path: string,
  unread: Unread,
  limits: Limits = usualLimits,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!(await file.stat()).isFile()) return
    let begun: Buffer[] = []
    let length = 0
    for (let at = 0; ;) {
      if (at >= limits.file) {
        unread.cut = true
        return
      }
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(chunkBytes), position: at })
      if (bytesRead === 0) break
      at += bytesRead
      const bytes = buffer.subarray(0, bytesRead)
      let left = 0
      for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, left)) {
        length += end - left
        if (length > limits.line) unread.long++
        else {
          begun.push(bytes.subarray(left, end))
          const found = recordIn(Buffer.concat(begun))
          if (found) yield found
          else if (length > 0) unread.broken++
        }
        begun = []
        length = 0
        left = end + 1
      }
      length += bytes.length - left
      // The bytes of a line that is too long are not kept.
      if (length <= limits.line) begun.push(bytes.subarray(left))
      else begun = []
    }
    const last = length > 0 && length <= limits.line ? recordIn(Buffer.concat(begun)) : undefined
    if (last) yield last
    if (length > limits.line) unread.long++
  } finally {
    await file.close()
  }
}

function recordIn(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
