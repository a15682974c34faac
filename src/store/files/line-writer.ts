import type { Line } from '../../core/talk/store.ts'
import type { RawLine } from './log-lines.ts'
import { fdatasync, fstatSync, closeSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { makeFolder, syncFolder } from '../../base/files/files.ts'
import { shortWrite } from '../store-error.ts'
import { parseLine } from './log-lines.ts'

const flush = promisify(fdatasync)
const breath = promisify(setImmediate)
const newline = 0x0a
const firstChunk = 16 * 1024

/** Appends lines to a file to which other processes append too. */
export class LineWriter {
  #path: string
  #sheet: OpenFile | undefined

  constructor(path: string) {
    this.#path = path
  }

  /**
   * Appends lines. They are written when the call begins and durable when it resolves, unless they are `unsynced`. Returns a position at
   * or before the first line.
   */
  async write(lines: readonly string[], unsynced?: 'unsynced'): Promise<number> {
    const text = `${lines.join('\n')}\n`
    const first = this.#put(text)
    // If another process cleared the log at that moment, the lines belong in the new file.
    const { sheet, at } = this.#current() === first.sheet ? first : this.#put(text)
    if (unsynced) return at
    if (!sheet.isNamed) syncFolder(dirname(this.#path))
    sheet.isNamed = true
    await sheet.keep()
    return at
  }

  /** Whether lines were written but none of them is durable yet. */
  get isUnsynced(): boolean {
    return this.#sheet?.isNamed === false
  }

  /** Closes the file; the next line opens it again. */
  close(): void {
    this.#sheet?.close()
    this.#sheet = undefined
  }

  /** Reads the last whole item and the unreadable lines after it, oldest first. */
  last<T>(): Line<T>[] {
    const sheet = this.#current() ?? this.#open()
    const { size } = fstatSync(sheet.fd)
    const own = sheet.ownLine(size)
    if (own) return parseLine<T>(own)
    for (let length = firstChunk; ; length *= 4) {
      const from = Math.max(0, size - length)
      const lines = linesOf(sheet.read(from, size - from), from).flatMap((line) => parseLine<T>(line))
      const whole = lines.findLastIndex(({ item }) => item !== undefined)
      if (whole >= 0 || from === 0) return lines.slice(Math.max(0, whole))
    }
  }

  /** Writes lines with one write(2), so that the lines of two processes never mix. */
  #put(text: string): { sheet: OpenFile; at: number } {
    const sheet = this.#current() ?? this.#open()
    const { size } = fstatSync(sheet.fd)
    // The unfinished line of a killed process must not absorb the first line.
    const bytes = Buffer.from(sheet.isTorn(size) ? `\n${text}` : text)
    const written = writeSync(sheet.fd, bytes)
    if (written < bytes.length) throw shortWrite(this.#path, written, bytes.length)
    sheet.wrote(bytes, size)
    return { sheet, at: size }
  }

  /** Returns the open file, if it is still the one at the path. */
  #current(): OpenFile | undefined {
    const there = statSync(this.#path, { throwIfNoEntry: false })
    return there && this.#sheet?.is(there) ? this.#sheet : undefined
  }

  #open(): OpenFile {
    this.close()
    makeFolder(dirname(this.#path))
    const fd = openSync(this.#path, 'a+', 0o600)
    return (this.#sheet = new OpenFile(fd))
  }
}

/** An open file. A cleared log continues in another file. */
class OpenFile {
  readonly fd: number
  /** Whether the name of the file in its folder is durable. */
  isNamed = false
  #id: { ino: number; dev: number }
  #own: { bytes: Buffer; end: number } | undefined
  #flushing: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(fd: number) {
    this.fd = fd
    this.#id = fstatSync(fd)
  }

  is(other: { ino: number; dev: number }): boolean {
    return other.ino === this.#id.ino && other.dev === this.#id.dev
  }

  /** Notes the bytes that were written after the first `size` bytes of the file. */
  wrote(bytes: Buffer, size: number): void {
    this.#own = { bytes, end: size + bytes.length }
  }

  /** The last line, if this process wrote it and the file has not grown since. */
  ownLine(size: number): RawLine | undefined {
    if (this.#own?.end !== size) return undefined
    const { bytes, end } = this.#own
    const from = bytes.lastIndexOf(newline, bytes.length - 2) + 1
    return { at: end - bytes.length + from, bytes: bytes.subarray(from, bytes.length - 1), open: false }
  }

  isTorn(size: number): boolean {
    return size > 0 && this.#own?.end !== size && this.read(size - 1, 1)[0] !== newline
  }

  read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length)
    let have = 0
    for (let got = 1; got > 0 && have < length; have += got)
      got = readSync(this.fd, bytes, have, length - have, at + have)
    return bytes.subarray(0, have)
  }

  /** Makes the written lines durable. One flush covers all lines that were written before it began. */
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
    // The system reuses the number of a closed file, and a late flush would then apply to the wrong file.
    ;(this.#next ?? this.#flushing).then(done, done)
  }
}

/** Splits the end of a file into lines. Unless it is the whole file, the first line may have begun earlier and is left out. */
function linesOf(bytes: Buffer, from: number): RawLine[] {
  const lines: RawLine[] = []
  let start = from === 0 ? 0 : bytes.indexOf(newline) + 1
  if (from > 0 && start === 0) return []
  while (start < bytes.length) {
    const end = bytes.indexOf(newline, start)
    const open = end < 0
    lines.push({ at: from + start, bytes: bytes.subarray(start, open ? bytes.length : end), open })
    start = open ? bytes.length : end + 1
  }
  return lines
}
