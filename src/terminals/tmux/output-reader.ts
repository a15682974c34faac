import type { Clock } from '../../base/time/clock.ts'
import { closeSync, fstatSync, openSync, readSync, watch } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../base/files/files.ts'
import { EndMark } from '../program/end-mark.ts'

/** How often a folder is read if the system reports its changes, and if it does not. */
const watchedMs = 5_000
const pollMs = 250

/** A pause between reads, so that many small writes become few chunks: the keeping script writes at most 2 KB at a time. */
const paceMs = 5

/** How long to wait for output after the exit of a shell that printed no end mark. */
const lastMs = 100

type Source = { out: string; id: string; clock: Clock; gone: AbortSignal; dropped: AbortSignal }

/** Yields a pane's output from a position on, as it arrives; bytes that are no longer stored are skipped. */
export async function* readOutput(source: Source, after: number): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
  const { out, id, clock, gone, dropped } = source
  const end = new EndMark(id)
  const changes = new Changes(out, clock)
  const segments = new Segments(out, after)
  const wake = () => changes.wake()
  for (const signal of [gone, dropped]) signal.addEventListener('abort', wake)
  let at = after
  let next = after
  let waited = false
  try {
    while (!dropped.aborted) {
      const over = gone.aborted
      const found = segments.read()
      if (found) {
        if (found.at !== next) at = found.at
        next = found.at + found.bytes.length
        const bytes = end.push(found.bytes)
        if (bytes.length > 0) yield { at, bytes }
        at += bytes.length
        if (end.found) return
        if (!found.more && !over) await clock.sleep(paceMs, dropped)
        waited = false
      } else if (!over) await changes.next()
      else if (!waited) {
        waited = true
        await changes.next(lastMs)
      } else {
        const bytes = end.rest()
        if (bytes.length > 0) yield { at, bytes }
        return
      }
    }
  } finally {
    changes.close()
    segments.close()
    for (const signal of [gone, dropped]) signal.removeEventListener('abort', wake)
  }
}

/** The position of the next byte. */
export function outputEnd(out: string): number {
  const last = startsIn(out).at(-1)
  if (last === undefined) return 0
  const file = openSync(join(out, String(last)), 'r')
  try {
    return last + fstatSync(file).size
  } finally {
    closeSync(file)
  }
}

/** The positions at which the files of a folder begin, oldest first. */
function startsIn(out: string): number[] {
  return namesIn(out)
    .map(Number)
    .sort((a, b) => a - b)
}

/** All readers share one buffer: reads are synchronous and frequent, and the bytes, just written, are in the system's cache. */
const buffer = Buffer.allocUnsafe(64 * 1024)

/** Reads the files of a folder as one stream, from a position on. The current file stays open. */
class Segments {
  #out: string
  #next: number
  #open: { start: number; file: number } | undefined

  constructor(out: string, after: number) {
    this.#out = out
    this.#next = after
  }

  /** Returns the next bytes, with `more` if there may be further ones; undefined at the end. */
  read(): { at: number; bytes: Uint8Array; more: boolean } | undefined {
    for (;;) {
      const found = this.#readOpen()
      if (found) return found
      const start = this.#following()
      if (start === undefined) return undefined
      // More bytes may have been written to this file before the next one was begun.
      const late = this.#readOpen()
      if (late) return late
      this.#take(start)
    }
  }

  close(): void {
    if (this.#open) closeSync(this.#open.file)
    this.#open = undefined
  }

  #readOpen() {
    if (!this.#open) return undefined
    const { file, start } = this.#open
    const length = readSync(file, buffer, 0, buffer.length, this.#next - start)
    if (length === 0) return undefined
    const at = this.#next
    this.#next += length
    return { at, bytes: Uint8Array.from(buffer.subarray(0, length)), more: length === buffer.length }
  }

  /** The file that contains the position, or the oldest one after it. */
  #following(): number | undefined {
    const all = startsIn(this.#out)
    const open = this.#open?.start
    if (open !== undefined) return all.find((start) => start > open)
    return all.findLast((start) => start <= this.#next) ?? all[0]
  }

  #take(start: number): void {
    const file = opened(join(this.#out, String(start)))
    this.close()
    this.#open = file === undefined ? undefined : { start, file }
    this.#next = Math.max(this.#next, start)
  }
}

/** Opens a file; undefined if it was the oldest one and was removed in the meantime. */
function opened(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Waits for changes of a folder; a change between two waits ends the second wait at once. */
class Changes {
  #clock: Clock
  #seen = false
  #sleep = new AbortController()
  #watcher: ReturnType<typeof watch> | undefined

  constructor(folder: string, clock: Clock) {
    this.#clock = clock
    try {
      this.#watcher = watch(folder, () => this.wake()).on('error', () => this.close())
    } catch {
      // Without a watcher the folder is polled.
    }
  }

  wake(): void {
    this.#seen = true
    // An abort with a reason is cheaper than one that has to create an error.
    this.#sleep.abort('changed')
  }

  async next(ms = this.#watcher ? watchedMs : pollMs): Promise<void> {
    this.#sleep = new AbortController()
    if (!this.#seen) await this.#clock.sleep(ms, this.#sleep.signal)
    this.#seen = false
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }
}
