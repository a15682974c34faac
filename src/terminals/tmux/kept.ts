import type { Clock } from '../../base/clock.ts'
import { watch } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { EndMark } from '../end-mark.ts'

/** A disk that does not tell of changes is looked at this often. */
const lookMs = 250

/** Nothing more is waited for when a shell that could not say where its output ends is gone so long. */
const lastMs = 100

const longestRead = 64 * 1024

type Source = { out: string; id: string; clock: Clock; gone: AbortSignal; dropped: AbortSignal }

/** What a pane drew from a position on, as it comes; what is no longer kept is passed over. */
export async function* keptOutput(source: Source, after: number): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
  const { out, id, clock, gone, dropped } = source
  const end = new EndMark(id)
  const changes = new Changes(out, clock)
  const wake = () => changes.wake()
  for (const signal of [gone, dropped]) signal.addEventListener('abort', wake)
  let at = after
  let next = after
  try {
    while (!dropped.aborted) {
      const over = gone.aborted
      const found = await readAt(out, next)
      if (found) {
        if (found.at !== next) at = found.at
        next = found.at + found.bytes.length
        const bytes = end.push(found.bytes)
        if (bytes.length > 0) yield { at, bytes }
        at += bytes.length
        if (end.found) return
      } else if (over) {
        await changes.next(lastMs)
        if (await readAt(out, next)) continue
        const bytes = end.rest()
        if (bytes.length > 0) yield { at, bytes }
        return
      } else await changes.next(lookMs)
    }
  } finally {
    changes.close()
    for (const signal of [gone, dropped]) signal.removeEventListener('abort', wake)
  }
}

/** Where the next byte will be. */
export async function keptEnd(out: string): Promise<number> {
  const last = (await segments(out)).at(-1)
  if (last === undefined) return 0
  const file = await open(join(out, String(last)))
  try {
    return last + (await file.stat()).size
  } finally {
    await file.close()
  }
}

async function readAt(out: string, position: number): Promise<{ at: number; bytes: Uint8Array } | undefined> {
  const all = await segments(out)
  const first = all.findLastIndex((start) => start <= position)
  for (const start of all.slice(Math.max(0, first))) {
    const at = Math.max(start, position)
    const bytes = await readSegment(join(out, String(start)), at - start)
    if (bytes.length > 0) return { at, bytes }
  }
  return undefined
}

/** Oldest first. */
async function segments(out: string): Promise<number[]> {
  const names = await readdir(out).catch(() => [])
  return names.map(Number).sort((a, b) => a - b)
}

async function readSegment(path: string, from: number): Promise<Uint8Array> {
  const file = await open(path).catch(() => undefined)
  // It was the oldest, and is gone.
  if (!file) return new Uint8Array(0)
  try {
    const { bytesRead, buffer } = await file.read(new Uint8Array(longestRead), 0, longestRead, from)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Changes of a folder, none of which is missed between two looks. */
class Changes {
  #clock: Clock
  #seen = false
  #sleep = new AbortController()
  #watcher: ReturnType<typeof watch> | undefined

  constructor(folder: string, clock: Clock) {
    this.#clock = clock
    try {
      this.#watcher = watch(folder, () => this.wake()).on('error', () => {})
    } catch {
      // Then it is looked at again and again.
    }
  }

  wake(): void {
    this.#seen = true
    this.#sleep.abort()
  }

  async next(ms: number): Promise<void> {
    this.#sleep = new AbortController()
    if (!this.#seen) await this.#clock.sleep(ms, this.#sleep.signal)
    this.#seen = false
  }

  close(): void {
    this.#watcher?.close()
  }
}
