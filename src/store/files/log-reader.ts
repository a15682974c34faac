import type { Read } from './log-lines.ts'
import { closeSync, fstatSync, openSync, read, readSync, statSync } from 'node:fs'
import { promisify } from 'node:util'
import { isMissing } from '../../base/files/files.ts'
import { storeError } from '../store-error.ts'
import { timeApart } from '../../base/time/clock.ts'

const readBeside = promisify(read)

/** Up to this many bytes are read synchronously, because that is faster: usually only the end of a log is read. */
const atOnce = 256 * 1024

/** A log file that is open for reading. While it is open, the system gives its identity to no other file. */
export class LogReader {
  #path: string
  #file: number
  #done = 0

  private constructor(path: string, file: number) {
    this.#path = path
    this.#file = file
  }

  static async open(path: string): Promise<LogReader | undefined> {
    try {
      return new LogReader(path, openSync(path, 'r'))
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
        const bytes = await this.#part(buffer.subarray(have), at + have)
        if (bytes === 0) break
        have += bytes
      }
    } catch (error) {
      throw storeError('read', this.#path, error)
    }
    return buffer.subarray(0, have)
  }

  /** Reads a part of a long log, interleaved with other work. */
  async #part(into: Buffer, at: number): Promise<number> {
    this.#done += into.length
    if (this.#done <= atOnce) return readSync(this.#file, into, 0, into.length, at)
    return (await readBeside(this.#file, into, 0, into.length, at)).bytesRead
  }

  async size(): Promise<number> {
    return fstatSync(this.#file).size
  }

  /** Returns how long ago the file was written, in ms. The clocks may differ, so only the size of the difference counts. */
  async age(now: number): Promise<number> {
    return timeApart(now, fstatSync(this.#file).mtimeMs)
  }

  /** Says whether a line begins at a position. */
  async beginsLine(at: number): Promise<boolean> {
    return at === 0 || (await this.read(at - 1, 1))[0] === 0x0a
  }

  /** Says whether the file at the path is still this one. */
  async isCurrent(): Promise<boolean> {
    const mine = fstatSync(this.#file)
    const there = statAt(this.#path)
    return there !== undefined && there.ino === mine.ino && there.dev === mine.dev
  }

  async close(): Promise<void> {
    closeSync(this.#file)
  }
}

function statAt(path: string) {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
