import type { FileHandle } from 'node:fs/promises'
import type { Read } from './log-lines.ts'
import { open, stat } from 'node:fs/promises'
import { isMissing } from '../../base/files.ts'
import { storeError } from '../store-error.ts'

/** A file open for reading: while it is, its identity cannot be given to another file. */
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

  /** How long ago it was written, in ms; clocks may differ, so either way counts. */
  async age(now: number): Promise<number> {
    return Math.abs(now - (await this.#file.stat()).mtimeMs)
  }

  /** Whether `at` is where a line begins. */
  async beginsLine(at: number): Promise<boolean> {
    return at === 0 || (await this.read(at - 1, 1))[0] === 0x0a
  }

  /** Whether the path still leads to this file. */
  async isCurrent(): Promise<boolean> {
    const [mine, there] = await Promise.all([this.#file.stat(), stat(this.#path).catch(() => undefined)])
    return there !== undefined && there.ino === mine.ino && there.dev === mine.dev
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
