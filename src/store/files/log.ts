import { unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Line, Log } from '../../core/talk/store.ts'
import { isMissing, syncFolder } from '../../base/files.ts'
import { Bell } from '../bell.ts'
import { storeError } from '../trouble.ts'
import { follow } from './follow.ts'
import { linesBack } from './lines.ts'
import { parseLine } from './parse.ts'
import { Pen } from './pen.ts'
import { Source } from './source.ts'

/** How long the last line may lack its end before it counts as torn. */
const freshMs = 1_000

/** A log as one file of JSON lines. */
export class FileLog<T> implements Log<T> {
  #path: string
  #clock: Clock
  #pen: Pen
  #bells = new Set<Bell>()

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
    this.#pen = new Pen(path)
  }

  async append(item: T): Promise<number> {
    try {
      return await this.#pen.write(JSON.stringify(item))
    } catch (error) {
      throw storeError('write', this.#path, error)
    } finally {
      this.#ring()
    }
  }

  async end(): Promise<number> {
    const source = await Source.open(this.#path)
    try {
      return (await source?.size()) ?? 0
    } finally {
      await source?.close()
    }
  }

  async *back(before = Infinity): AsyncGenerator<Line<T>> {
    const source = await Source.open(this.#path)
    if (!source) return
    try {
      for await (const line of linesBack(source.read, Math.min(before, await source.size()))) {
        const found = parseLine<T>(line)
        const partial = line.open && found.at(-1)?.item === undefined
        // Another process may be in the middle of writing it; what a dead one left is soon old.
        if (partial && (await source.age(this.#clock.now())) < freshMs) continue
        yield* found.reverse()
      }
    } finally {
      await source.close()
    }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Line<T>> {
    const bell = new Bell()
    this.#bells.add(bell)
    try {
      yield* follow<T>(this.#path, after, { signal, clock: this.#clock, bell })
    } finally {
      this.#bells.delete(bell)
    }
  }

  /** Removed, not emptied: whoever reads or writes it elsewhere can tell that it is another one now. */
  async clear(): Promise<void> {
    try {
      unlinkSync(this.#path)
      syncFolder(dirname(this.#path))
    } catch (error) {
      if (!isMissing(error)) throw storeError('clear', this.#path, error)
    }
    this.#ring()
  }

  #ring() {
    for (const bell of this.#bells) bell.ring()
  }
}
