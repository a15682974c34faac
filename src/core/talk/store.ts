/** Everything that termaite remembers. Names are paths without an extension: `projects/<slug>/history`, `health`. */
export interface Store {
  log<T>(name: string): Log<T>
  /** `known` checks a document that a person may have edited; if it returns undefined, reading throws a StoreError. */
  doc<T>(name: string, initial: T, known?: (found: unknown) => T | undefined): Doc<T>
  blobs(name: string): Blobs
}

/** An item of a log and its position; `broken` is the text of a line that could not be read. */
export type Line<T> = { at: number; item: T; broken?: undefined } | { at: number; item?: undefined; broken: string }

/** An append-only list of items. Many processes may append at once; a reader sees only whole items. */
export interface Log<T> {
  /**
   * Appends an item, durably when it resolves; with `unsynced` it survives this process, but may be lost in a power cut. Returns a
   * position at or before the item: following from it shows the item.
   */
  append(item: T, unsynced?: 'unsynced'): Promise<number>
  /**
   * Appends items that continue the last one, as a chain of hashes does. `make` gets the last whole item and the lines after it
   * that cannot be read, the oldest first; no other process links items in between. Durable when it resolves.
   */
  link(make: (last: readonly Line<T>[]) => readonly T[]): Promise<void>
  /** Returns a position at or after the end of the last item. */
  end(): Promise<number>
  /** Reads newest first, from the end or from a position; the cost depends on the amount read, not on the size of the log. */
  back(before?: number): AsyncIterable<Line<T>>
  /** Reads oldest first, up to the present end. */
  read(): AsyncIterable<Line<T>>
  /** Reads oldest first from a position, then each new item, until the signal aborts. */
  follow(after: number, signal: AbortSignal): AsyncIterable<Line<T>>
  /**
   * Erases the lines before a position for which `isGone` returns true. All other lines keep their positions, and other processes may
   * append meanwhile; the room of the erased lines is not given back.
   */
  erase(isGone: (line: Line<T>) => boolean, before: number): Promise<void>
  /** Deletes all items. */
  clear(): Promise<void>
}

/** A small document, replaced as a whole. `update` is atomic across processes, and a lock ends with its process. */
export interface Doc<T> {
  read(): Promise<T>
  update(change: (now: T) => T): Promise<T>
}

/** Bodies that are found by the hash of their content. */
export interface Blobs {
  put(body: string | Uint8Array, media: string): Promise<Ref>
  /** Writes a body that is too long for memory: each chunk goes to disk at once. */
  writer(media: string): BlobWriter
  read(ref: Ref): AsyncIterable<Uint8Array>
  /** Returns the path of the blob, if it is a file that a person or an agent can open. */
  place(ref: Ref): string | undefined
  /** Removes every body whose hash is not in the set. */
  keepOnly(shas: ReadonlySet<string>): Promise<void>
  clear(): Promise<void>
}

export interface BlobWriter {
  write(chunk: Uint8Array): Promise<void>
  done(): Promise<Ref>
  drop(): Promise<void>
}

/** The store failed; the message is a sentence for the person. */
export class StoreError extends Error {
  override name = 'StoreError'
}

export async function readText(blobs: Blobs, ref: Ref): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of blobs.read(ref)) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

/** Reads a whole body; undefined if it can no longer be read. */
export async function readBody(blobs: Blobs, ref: Ref): Promise<Buffer | undefined> {
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of blobs.read(ref)) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch {
    return undefined
  }
}

/** A reference to a blob: a body that is too long for a line of the log. */
export type Ref = { sha: string; media: string; bytes: number }
