import type { FileHandle } from 'node:fs/promises'
import type { Read } from './log-lines.ts'
import { open, stat } from 'node:fs/promises'
import { isMissing } from '../../base/files.ts'
import { storeError } from '../store-error.ts'
import { timeApart } from '../../base/clock.ts'

/** A log file that is open for reading. As long as it is open, the system gives its identity to no other file. */
export class LogReader {
  #path: string
  #file: FileHandle

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  static async open(path: string): Promise<LogReader | undefined> {
    try {
      return new LogReader(path, await open(path, 'r'))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw storeError('read', path, error)
    }
  }

  read: Read = async (at, length) => {
    const buffer = Buffer.allocUnsafe(length)
    let have = 0
    try {
      while (have < length) {
        const { bytesRead } = await this.#file.read(buffer, have, length - have, at + have)
        if (bytesRead === 0) break
        have += bytesRead
      }
    } catch (error) {
      throw storeError('read', this.#path, error)
    }
    return buffer.subarray(0, have)
  }

  async size(): Promise<number> {
    return (await this.#file.stat()).size
  }

  /** Returns how long ago the file was written, in ms. The clocks may differ, so the difference counts in either direction. */
  async age(now: number): Promise<number> {
    return timeApart(now, (await this.#file.stat()).mtimeMs)
  }

  /** Says whether a line begins at a position. */
  async beginsLine(at: number): Promise<boolean> {
    return at === 0 || (await this.read(at - 1, 1))[0] === 0x0a
  }

  /** Says whether this is still the file at the path. */
  async isCurrent(): Promise<boolean> {
    const [mine, there] = await Promise.all([this.#file.stat(), stat(this.#path).catch(() => undefined)])
    return there !== undefined && there.ino === mine.ino && there.dev === mine.dev
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
