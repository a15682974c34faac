import { fdatasync, fstatSync, closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { makeFolder, syncFolder } from '../../base/files.ts'
import { shortWrite } from '../trouble.ts'

const flush = promisify(fdatasync)
const newline = 0x0a

/** Writes lines at the end of a file that others write to as well. */
export class Pen {
  #path: string
  #sheet: Sheet | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** One write(2), so that lines of two processes never mix. Gives a position at or before the line. */
  async write(line: string): Promise<number> {
    for (;;) {
      const sheet = this.#open()
      const { size } = fstatSync(sheet.fd)
      // What a killed process or a full disk left there must not swallow this line.
      const bytes = Buffer.from(sheet.isTorn(size) ? `\n${line}\n` : `${line}\n`)
      const written = writeSync(sheet.fd, bytes)
      if (written < bytes.length) throw shortWrite(this.#path, written, bytes.length)
      // Cleared by another process since it was opened: this line belongs into the new one.
      if (sheet.isGone()) continue
      await sheet.keep()
      return size
    }
  }

  #open(): Sheet {
    const there = statSync(this.#path, { throwIfNoEntry: false })
    if (this.#sheet && there && this.#sheet.is(there)) return this.#sheet
    this.#sheet?.close()
    this.#sheet = undefined
    makeFolder(dirname(this.#path))
    const fd = openSync(this.#path, 'a+', 0o600)
    syncFolder(dirname(this.#path))
    return (this.#sheet = new Sheet(fd))
  }
}

/** One open file; a cleared log goes on in another. */
class Sheet {
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

  isGone(): boolean {
    return fstatSync(this.fd).nlink === 0
  }

  /** One flush serves every line that was written before it began. */
  keep(): Promise<void> {
    this.#next ??= this.#flushing.then(() => {
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
