import { sha256 } from '../base/hash.ts'
import type { Ref, Blobs, BlobWriter, Doc, Line, Log, Store } from '../core/talk/store.ts'
import { StoreError } from '../core/talk/store.ts'
import { ChangeSignal } from './change-signal.ts'

/** A store in memory, for `--ephemeral`, for short-lived work such as the check of an agent, and for tests. */
export function memoryStore(): Store {
  const logs = new Map<string, MemoryLog<unknown>>()
  const docs = new Map<string, string>()
  const blobs = new Map<string, MemoryBlobs>()
  return {
    log<T>(name: string) {
      if (!logs.has(name)) logs.set(name, new MemoryLog())
      return logs.get(name) as Log<unknown> as Log<T>
    },
    doc: (name, initial) => memoryDoc(docs, name, initial),
    blobs(name) {
      if (!blobs.has(name)) blobs.set(name, new MemoryBlobs())
      return blobs.get(name)!
    },
  }
}

const erased = ''

/** A log in memory. Items are stored as text, so that later changes of an object do not change the log. */
class MemoryLog<T> implements Log<T> {
  #lines: string[] = []
  #bells = new Set<ChangeSignal>()

  async append(item: T): Promise<number> {
    const at = this.#lines.push(JSON.stringify(item)) - 1
    this.#ring()
    return at
  }

  async link(make: (last: readonly Line<T>[]) => readonly T[]): Promise<void> {
    const at = this.#lines.findLastIndex((line) => line !== erased)
    const items = make(at < 0 ? [] : [{ at, item: JSON.parse(this.#lines[at]!) as T }])
    this.#lines.push(...items.map((item) => JSON.stringify(item)))
    this.#ring()
  }

  async end(): Promise<number> {
    return this.#lines.length
  }

  async *back(before = Infinity): AsyncGenerator<Line<T>> {
    const lines = this.#lines
    for (let at = Math.min(before, lines.length) - 1; at >= 0; at--)
      if (lines[at] !== erased) yield { at, item: JSON.parse(lines[at]!) as T }
  }

  async *read(): AsyncGenerator<Line<T>> {
    for (const [at, line] of [...this.#lines].entries()) if (line !== erased) yield { at, item: JSON.parse(line) as T }
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<Line<T>> {
    const bell = new ChangeSignal()
    let lines = this.#lines
    let at = after > lines.length ? 0 : after
    this.#bells.add(bell)
    signal.addEventListener('abort', bell.ring)
    try {
      while (!signal.aborted) {
        if (lines !== this.#lines) [lines, at] = [this.#lines, 0]
        if (at >= lines.length) await bell.heard()
        else if (lines[at] === erased) at++
        else yield { at, item: JSON.parse(lines[at++]!) as T }
      }
    } finally {
      signal.removeEventListener('abort', bell.ring)
      this.#bells.delete(bell)
    }
  }

  async erase(isGone: (line: Line<T>) => boolean, before: number): Promise<void> {
    for (const [at, line] of this.#lines.slice(0, before).entries())
      if (line !== erased && isGone({ at, item: JSON.parse(line) as T })) this.#lines[at] = erased
  }

  async clear(): Promise<void> {
    this.#lines = []
    this.#ring()
  }

  #ring() {
    for (const bell of this.#bells) bell.ring()
  }
}

function memoryDoc<T>(docs: Map<string, string>, name: string, initial: T): Doc<T> {
  const now = () => (docs.has(name) ? (JSON.parse(docs.get(name)!) as T) : structuredClone(initial))
  return {
    read: async () => now(),
    async update(change) {
      docs.set(name, JSON.stringify(change(now())))
      return now()
    },
  }
}

export class MemoryBlobs implements Blobs {
  #bodies = new Map<string, Buffer>()

  async put(body: string | Uint8Array, media: string): Promise<Ref> {
    const bytes = Buffer.from(body as Uint8Array)
    const sha = sha256().update(bytes).digest('hex')
    this.#bodies.set(sha, bytes)
    return { sha, media, bytes: bytes.length }
  }

  writer(media: string): BlobWriter {
    let chunks: Buffer[] = []
    return {
      async write(chunk) {
        chunks.push(Buffer.from(chunk))
      },
      done: () => this.put(Buffer.concat(chunks), media),
      async drop() {
        chunks = []
      },
    }
  }

  async *read(ref: Ref): AsyncGenerator<Uint8Array> {
    const body = this.#bodies.get(ref.sha)
    if (!body) throw new StoreError(`the stored body ${ref.sha} is missing; its content is lost`)
    yield body
  }

  async bytes(sha: string): Promise<number> {
    return this.#bodies.get(sha)?.length ?? 0
  }

  place(): undefined {
    return undefined
  }

  keepOnly(shas: ReadonlySet<string>): Promise<void> {
    return this.removeAll(async (sha) => !shas.has(sha))
  }

  /** Removes every body for which `isOver` returns true. The time at which a body was written is unknown here. */
  async removeAll(isOver: (sha: string, written: () => Promise<number>) => Promise<boolean>): Promise<void> {
    for (const sha of [...this.#bodies.keys()]) if (await isOver(sha, async () => -Infinity)) this.#bodies.delete(sha)
  }

  async clear(): Promise<void> {
    this.#bodies.clear()
  }
}
