import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Doc } from '../../core/talk/store.ts'
import type { Mutex } from './file-mutex.ts'
import { messageOf } from '../../base/error-message.ts'
import { isMissing, makeFolder, replaceFile } from '../../base/files.ts'
import { StoreError } from '../../core/talk/store.ts'
import { storeError } from '../store-error.ts'

const next = 'repair it, or move it away to start afresh'

/** A document as one file of JSON, replaced whole while the mutex is held. */
export class FileDoc<T> implements Doc<T> {
  #path: string
  #initial: T
  #mutex: Mutex
  #known: (found: unknown) => T | undefined

  constructor(path: string, initial: T, mutex: Mutex, known = (found: unknown): T | undefined => found as T) {
    this.#path = path
    this.#initial = initial
    this.#mutex = mutex
    this.#known = known
  }

  async read(): Promise<T> {
    return this.#parse(this.#text())
  }

  update(change: (now: T) => T): Promise<T> {
    return this.#mutex.hold(() => {
      const before = this.#text()
      const next = change(this.#parse(before))
      const text = `${JSON.stringify(next, null, 2)}\n`
      if (text !== before) this.#write(text)
      return this.#parse(text)
    })
  }

  #text(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8')
    } catch (error) {
      if (isMissing(error)) return undefined
      throw storeError('read', this.#path, error)
    }
  }

  #parse(text: string | undefined): T {
    if (text === undefined) return structuredClone(this.#initial)
    let found: unknown
    try {
      found = JSON.parse(text)
    } catch (error) {
      const why = messageOf(error)
      throw new StoreError(`${this.#path} is not valid JSON (${why}); ${next}`, { cause: error })
    }
    const known = this.#known(found)
    if (known === undefined) throw new StoreError(`${this.#path} does not hold what it should; ${next}`)
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
