import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Doc } from '../../core/talk/store.ts'
import type { Mutex } from './file-mutex.ts'
import { isMissing, makeFolder, replaceFile } from '../../base/files/files.ts'
import type { StoreVoice } from '../set-aside.ts'
import { isUnusable, setAside } from '../set-aside.ts'
import { storeError } from '../store-error.ts'

/** The file exists, but is not one of termaite's documents. */
class Garbage extends Error {}

/** A document as one JSON file, which is replaced as a whole while the mutex is held. A file that cannot be used is set aside. */
export class FileDoc<T> implements Doc<T> {
  #path: string
  #initial: T
  #mutex: Mutex
  #voice: StoreVoice
  #known: (found: unknown) => T | undefined

  constructor(
    path: string,
    initial: T,
    { mutex, voice }: { mutex: Mutex; voice: StoreVoice },
    known = (found: unknown): T | undefined => found as T,
  ) {
    this.#path = path
    this.#initial = initial
    this.#mutex = mutex
    this.#voice = voice
    this.#known = known
  }

  async read(): Promise<T> {
    try {
      return this.#parse(this.#text())
    } catch (error) {
      if (!(error instanceof Garbage)) throw error
    }
    // The file is read again under the lock, because another process may have set it aside and made a new one in the meantime.
    return this.#mutex.hold(() => this.#parse(this.#usable()))
  }

  update(change: (now: T) => T): Promise<T> {
    return this.#mutex.hold(() => {
      const before = this.#usable()
      const next = change(this.#parse(before))
      const text = `${JSON.stringify(next, null, 2)}\n`
      if (text !== before) this.#write(text)
      return this.#parse(text)
    })
  }

  /**
   * Returns the text of the document. A file that cannot be used is set aside, and the result is undefined. Must be
   * called while the mutex is held.
   */
  #usable(): string | undefined {
    try {
      const text = this.#text()
      this.#parse(text)
      return text
    } catch (error) {
      if (!(error instanceof Garbage)) throw error
      setAside(this.#path, this.#voice)
      return undefined
    }
  }

  #text(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8')
    } catch (error) {
      if (isMissing(error)) return undefined
      if (isUnusable(error, this.#path)) throw new Garbage()
      throw storeError('read', this.#path, error)
    }
  }

  #parse(text: string | undefined): T {
    if (text === undefined) return structuredClone(this.#initial)
    const known = this.#known(parseDocument(text, this.#initial))
    if (known === undefined) throw new Garbage()
    return known
  }

  #write(text: string): void {
    try {
      makeFolder(dirname(this.#path))
      replaceFile(this.#path, text)
    } catch (error) {
      throw storeError('write', this.#path, error)
    }
  }
}

/** Parses a document. If the initial value is an object or a list, the document must be one too. */
function parseDocument(text: string, initial: unknown): unknown {
  try {
    const found: unknown = JSON.parse(text)
    const isObject = typeof found === 'object' && found !== null
    if (typeof initial !== 'object' || initial === null) return found
    if (isObject && Array.isArray(found) === Array.isArray(initial)) return found
  } catch {
    // Text that is not JSON counts as a document of the wrong shape.
  }
  throw new Garbage()
}
