/** Everything remembered goes through here. Names are paths without an ending: `projects/<slug>/history`, `health`. */
export interface Store {
  log<T>(name: string): Log<T>
  /** `known` reads what a person may have edited: undefined when it is none of ours, and then it is a StoreError. */
  doc<T>(name: string, initial: T, known?: (found: unknown) => T | undefined): Doc<T>
  blobs(name: string): Blobs
}

/** A line of a log at its position, or one that could not be read. */
export type Line<T> = { at: number; item: T; broken?: undefined } | { at: number; item?: undefined; broken: string }

/** Append-only. Many processes may append at once; a reader sees whole items or none. */
export interface Log<T> {
  /** Durable when it resolves. The position is at or before the item: following from it shows the item. */
  append(item: T): Promise<number>
  /** Where the next item will begin, or later. */
  end(): Promise<number>
  /** Newest first, from the end or from before a line at a position; cost follows what is read, not the size of the log. */
  back(before?: number): AsyncIterable<Line<T>>
  /** Oldest first from a position on, then what is appended, until the signal aborts. */
  follow(after: number, signal: AbortSignal): AsyncIterable<Line<T>>
  /** Deletes everything in it. */
  clear(): Promise<void>
}

/** A small document, replaced whole. `update` is atomic over processes, and a dead process holds no lock. */
export interface Doc<T> {
  read(): Promise<T>
  update(change: (now: T) => T): Promise<T>
}

/** Bodies by their content. */
export interface Blobs {
  put(body: string | Uint8Array, media: string): Promise<Ref>
  /** For what is too long for memory: chunks go to disk as they come. */
  writer(media: string): BlobWriter
  read(ref: Ref): AsyncIterable<Uint8Array>
  /** Where a person or an agent can open it, if it is a file. */
  place(ref: Ref): string | undefined
  clear(): Promise<void>
}

export interface BlobWriter {
  write(chunk: Uint8Array): Promise<void>
  done(): Promise<Ref>
  drop(): Promise<void>
}

/** The store could not keep something: a sentence for the person, and the cause. */
export class StoreError extends Error {
  override name = 'StoreError'
}

export async function readText(blobs: Blobs, ref: Ref): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of blobs.read(ref)) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

/** A blob: any body too long for a line of the log. */
export type Ref = { sha: string; media: string; bytes: number }
