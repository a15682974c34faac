import { fdatasync, fstatSync, closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { makeFolder, syncFolder } from '../../base/files.ts'
import { shortWrite } from '../store-error.ts'

const flush = promisify(fdatasync)
const breath = promisify(setImmediate)
const newline = 0x0a

/** Appends lines to a file that other processes append to as well. */
export class LineWriter {
  #path: string
  #sheet: OpenFile | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Appends a line, durably when it resolves. Returns a position at or before the line. */
  async write(line: string): Promise<number> {
    const first = this.#put(line)
    // If another process cleared the log in that moment, the line belongs into the new file.
    const { sheet, at } = this.#current() === first.sheet ? first : this.#put(line)
    await sheet.keep()
    return at
  }

  /** Closes the file; the next line opens it again. */
  close(): void {
    this.#sheet?.close()
    this.#sheet = undefined
  }

  /** Writes a line with one write(2), so that the lines of two processes never mix. */
  #put(line: string): { sheet: OpenFile; at: number } {
    const sheet = this.#current() ?? this.#open()
    const { size } = fstatSync(sheet.fd)
    // The unfinished line of a killed process must not swallow this one.
    const bytes = Buffer.from(sheet.isTorn(size) ? `\n${line}\n` : `${line}\n`)
    const written = writeSync(sheet.fd, bytes)
    if (written < bytes.length) throw shortWrite(this.#path, written, bytes.length)
    return { sheet, at: size }
  }

  /** Returns the open file, as long as it is still the one at the path. */
  #current(): OpenFile | undefined {
    const there = statSync(this.#path, { throwIfNoEntry: false })
    return there && this.#sheet?.is(there) ? this.#sheet : undefined
  }

  #open(): OpenFile {
    this.close()
    makeFolder(dirname(this.#path))
    const fd = openSync(this.#path, 'a+', 0o600)
    syncFolder(dirname(this.#path))
    return (this.#sheet = new OpenFile(fd))
  }
}

/** An open file. A cleared log goes on in another one. */
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

  /** Makes the written lines durable. One flush serves all lines that were written before it began. */
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
    // The system reuses the number of a closed file, and a late flush would then hit the wrong file.
    ;(this.#next ?? this.#flushing).then(done, done)
  }
}
