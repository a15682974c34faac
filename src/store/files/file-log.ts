import type { Clock } from '../../base/time/clock.ts'
import type { Line, Log } from '../../core/talk/store.ts'
import type { FSWatcher } from 'node:fs'
import type { Mutex } from './file-mutex.ts'
import type { StoreVoice } from '../set-aside.ts'
import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, unlinkSync, watch, writeSync } from 'node:fs'
import { dirname, basename } from 'node:path'
import { isMissing, syncFolder } from '../../base/files/files.ts'
import { ChangeSignal } from '../change-signal.ts'
import { isLocked, setAside } from '../set-aside.ts'
import { storeError } from '../store-error.ts'
import { linesBack, parseLine, linesOn } from './log-lines.ts'
import { LineWriter } from './line-writer.ts'
import { LogReader } from './log-reader.ts'

/** How long the last line may be incomplete before it counts as torn. */
const freshMs = 1_000

/** A log as one file of JSON lines. */
export class FileLog<T> implements Log<T> {
  #path: string
  #clock: Clock
  #voice: StoreVoice
  #pen: LineWriter
  #mutex: Mutex
  #isChecked = false
  #bells = new Set<ChangeSignal>()

  constructor(path: string, voice: StoreVoice, mutex: Mutex) {
    this.#path = path
    this.#clock = voice.clock
    this.#voice = voice
    this.#mutex = mutex
    this.#pen = new LineWriter(path)
  }

  async append(item: T, unsynced?: 'unsynced'): Promise<number> {
    try {
      this.#check()
      return await this.#pen.write([JSON.stringify(item)], unsynced)
    } catch (error) {
      throw storeError('write', this.#path, error)
    } finally {
      this.#ring()
    }
  }

  async link(make: (last: readonly Line<T>[]) => readonly T[]): Promise<void> {
    try {
      this.#check()
      const { flushed } = await this.#mutex.hold(() => {
        const items = make(this.#pen.last<T>())
        // The lines are written under the lock but flushed after it, so that no other process waits for the disk.
        return { flushed: items.length > 0 ? this.#pen.write(items.map((item) => JSON.stringify(item))) : undefined }
      })
      await flushed
    } catch (error) {
      throw storeError('write', this.#path, error)
    } finally {
      this.#ring()
    }
  }

  async end(): Promise<number> {
    this.#check()
    const source = await LogReader.open(this.#path)
    try {
      return (await source?.size()) ?? 0
    } finally {
      await source?.close()
    }
  }

  async *back(before = Infinity): AsyncGenerator<Line<T>> {
    this.#check()
    const source = await LogReader.open(this.#path)
    if (!source) return
    try {
      for await (const lines of linesBack(source.read, Math.min(before, await source.size())))
        for (const line of lines) {
          const found = parseLine<T>(line)
          const partial = line.open && found.at(-1)?.item === undefined
          // Another process may be writing the line right now; the leftovers of a dead process are older.
          if (partial && (await source.age(this.#clock.now())) < freshMs) continue
          for (const one of found.reverse()) yield one
        }
    } finally {
      await source.close()
    }
  }

  async *read(): AsyncGenerator<Line<T>> {
    this.#check()
    const source = await LogReader.open(this.#path)
    if (!source) return
    try {
      for await (const lines of linesOn(source.read, 0, await source.size()))
        for (const line of lines) {
          const found = parseLine<T>(line)
          const partial = line.open && found.at(-1)?.item === undefined
          if (partial && (await source.age(this.#clock.now())) < freshMs) continue
          for (const one of found) yield one
        }
    } finally {
      await source.close()
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Line<T>> {
    this.#check()
    const bell = new ChangeSignal()
    this.#bells.add(bell)
    try {
      yield* follow<T>(this.#path, after, { signal, clock: this.#clock, bell })
    } finally {
      this.#bells.delete(bell)
    }
  }

  /** Overwrites lines with spaces: a line of spaces has no item, and the position of every other line stays as it was. */
  async erase(isGone: (line: Line<T>) => boolean, before: number): Promise<void> {
    this.#check()
    const source = await LogReader.open(this.#path)
    if (!source) return
    try {
      const size = Math.min(before, await source.size())
      // Asked now, because the first erased line makes the file young again.
      const isFresh = (await source.age(this.#clock.now())) < freshMs
      for await (const lines of linesOn(source.read, 0, size))
        for (const line of lines) {
          const found = parseLine<T>(line)
          const partial = line.open && found.at(-1)?.item === undefined
          if (partial && isFresh) continue
          const ends = line.at + line.bytes.length
          for (const [nth, one] of found.entries())
            if (isGone(one)) overwrite(this.#path, one.at, found[nth + 1]?.at ?? ends)
        }
    } catch (error) {
      throw storeError('write', this.#path, error)
    } finally {
      await source.close()
    }
  }

  /** Removes the file instead of emptying it, so that other processes notice that the log is a new file. */
  async clear(): Promise<void> {
    // A log without durable lines may be lost in a power cut anyway, so the disk need not be waited for.
    const { isUnsynced } = this.#pen
    this.#pen.close()
    try {
      unlinkSync(this.#path)
      if (!isUnsynced) syncFolder(dirname(this.#path))
    } catch (error) {
      if (!isMissing(error)) throw storeError('clear', this.#path, error)
    }
    this.#ring()
  }

  /** Sets aside, once, anything that is not a log: a folder, a file that we may not use, or a file without any line of ours. */
  #check(): void {
    if (this.#isChecked) return
    this.#isChecked = true
    if (isLocked(this.#path) || !mayHoldItems(this.#path)) setAside(this.#path, this.#voice)
  }

  #ring() {
    for (const bell of this.#bells) bell.ring()
  }
}

/** Writes spaces over the bytes of a file from one position to another. */
function overwrite(path: string, from: number, to: number): void {
  const fd = openSync(path, 'r+')
  try {
    for (let at = from; at < to;) at += writeSync(fd, Buffer.alloc(to - at, ' '), 0, to - at, at)
    fdatasyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

const sampleBytes = 64 * 1024

/** Whether a log is missing, empty, or has a line in its first or last part that begins like an item, or that was erased. */
function mayHoldItems(path: string): boolean {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch {
    return true
  }
  try {
    const { size } = fstatSync(fd)
    const part = (at: number, length: number) => {
      const bytes = Buffer.alloc(Math.min(length, size))
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, at)).toString('latin1')
    }
    if (size === 0 || part(0, 1) === '{') return true
    return [0, Math.max(0, size - sampleBytes)].some((at) => /^(\s*\{"| +$)/m.test(part(at, sampleBytes)))
  } finally {
    closeSync(fd)
  }
}

/** How often a followed log is checked: some file systems never report a change. */
export const pollMs = 1_000

type Ears = { signal: AbortSignal; clock: Clock; bell: ChangeSignal }

/** Yields the items of a log after a position, then each item that is appended, until the signal aborts. */
export async function* follow<T>(path: string, after: number, { signal, clock, bell }: Ears): AsyncGenerator<Line<T>> {
  let at = after
  let inside: boolean | undefined
  let source: LogReader | undefined
  let watcher: FSWatcher | undefined
  signal.addEventListener('abort', bell.ring)
  try {
    while (!signal.aborted) {
      if (source && !(await source.isCurrent())) {
        await source.close()
        source = undefined
        at = 0
      }
      if (!source) {
        watcher?.close()
        watcher = listen(path, dirname(path), bell)
      }
      source ??= await LogReader.open(path)
      const size = (await source?.size()) ?? 0
      if (size < at) at = 0
      // The position may be inside a line that another process was writing: that line began before the position and is skipped.
      if (source) inside ??= !(await source.beginsLine(at))
      if (at === 0) inside = false
      for await (const lines of source ? linesOn(source.read, at, size) : [])
        for (const line of lines) {
          const found = inside ? [] : parseLine<T>(line)
          // The last line may be incomplete; if it parses, only its newline is missing.
          if (line.open && (inside || found.at(-1)?.item === undefined)) break
          inside = false
          at = line.at + line.bytes.length + (line.open ? 0 : 1)
          for (const one of found) {
            yield one
            if (signal.aborted) return
          }
        }
      const nap = new AbortController()
      if (!signal.aborted) await Promise.race([bell.heard(), clock.sleep(pollMs, nap.signal)])
      nap.abort()
    }
  } finally {
    signal.removeEventListener('abort', bell.ring)
    watcher?.close()
    await source?.close()
  }
}

/** Signals changes of the file or, as long as its folder does not exist, of the nearest folder that does. */
function listen(path: string, folder: string, bell: ChangeSignal): FSWatcher | undefined {
  try {
    const watcher = watch(folder, (_event, name) => {
      if (name === null || folder !== dirname(path) || name === basename(path)) bell.ring()
    })
    return watcher.on('error', () => watcher.close())
  } catch (error) {
    // If the system cannot watch files, the regular check is enough.
    return isMissing(error) && folder !== dirname(folder) ? listen(path, dirname(folder), bell) : undefined
  }
}
