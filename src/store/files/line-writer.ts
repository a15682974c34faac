import { fdatasync, fstatSync, closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { makeFolder, syncFolder } from '../../base/files.ts'
import { shortWrite } from '../store-error.ts'

const flush = promisify(fdatasync)
const breath = promisify(setImmediate)
const newline = 0x0a

/** Writes lines at the end of a file that others write to as well. */
export class LineWriter {
  #path: string
  #sheet: OpenFile | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Durable when it resolves. Gives a position at or before the line. */
  async write(line: string): Promise<number> {
    const first = this.#put(line)
    // If another process cleared it in that moment, the line belongs into the new one.
    const { sheet, at } = this.#current() === first.sheet ? first : this.#put(line)
    await sheet.keep()
    return at
  }

  /** One write(2), so that lines of two processes never mix. */
  #put(line: string): { sheet: OpenFile; at: number } {
    const sheet = this.#current() ?? this.#open()
    const { size } = fstatSync(sheet.fd)
    // What a killed process or a full disk left there must not swallow this line.
    const bytes = Buffer.from(sheet.isTorn(size) ? `\n${line}\n` : `${line}\n`)
    const written = writeSync(sheet.fd, bytes)
    if (written < bytes.length) throw shortWrite(this.#path, written, bytes.length)
    return { sheet, at: size }
  }

  /** The open file, as long as the path leads to it. */
  #current(): OpenFile | undefined {
    const there = statSync(this.#path, { throwIfNoEntry: false })
    return there && this.#sheet?.is(there) ? this.#sheet : undefined
  }

  #open(): OpenFile {
    this.#sheet?.close()
    this.#sheet = undefined
    makeFolder(dirname(this.#path))
    const fd = openSync(this.#path, 'a+', 0o600)
    syncFolder(dirname(this.#path))
    return (this.#sheet = new OpenFile(fd))
  }
}

/** One open file; a cleared log goes on in another. */
class OpenFile {
  readonly fd: number
  #id: { ino: number; dev: number }
  #flushing: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(fd: number) {
    this.fd = fd
    this.#id = fstatSync(fd)
  }

  is(other: { ino: number; dev: number }): boolean {
    return other.ino === this.#id.ino && other.dev === this.#id.dev
  }

  isTorn(size: number): boolean {
    const last = Buffer.alloc(1)
    return size > 0 && readSync(this.fd, last, 0, 1, size - 1) === 1 && last[0] !== newline
  }

  /** One flush serves every line that was written before it began; what is written in one breath shares it. */
  keep(): Promise<void> {
    this.#next ??= this.#flushing.then(breath).then(() => {
      this.#next = undefined
      const flushed = flush(this.fd)
      this.#flushing = flushed.catch(() => {})
      return flushed
    })
    return this.#next
  }

  close(): void {
    const done = () => closeSync(this.fd)
    // The number of a closed file is given to the next one, which a late flush would then meet.
    ;(this.#next ?? this.#flushing).then(done, done)
  }
}
