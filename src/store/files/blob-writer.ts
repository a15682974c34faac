import type { FileHandle } from 'node:fs/promises'
import { sha256 } from '../../base/hash.ts'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobWriter, Ref } from '../../core/talk/store.ts'
import { syncFolder } from '../../base/files.ts'
import { ownerMark } from '../../base/owner.ts'
import { storeError } from '../trouble.ts'
import { Turnstile } from '../turnstile.ts'

let parts = 0

/** Where an unfinished body is written: its name says whose it is, so that a dead process's can be swept away. */
export function partPath(folder: string): string {
  return join(folder, `part,${ownerMark()},${++parts}`)
}

export function partOwner(name: string): string | undefined {
  return name.startsWith('part,') ? name.slice(5, name.lastIndexOf(',')) : undefined
}

/** Hashes a body while it goes to disk; it gets its name when it is whole. */
export class FileBlobWriter implements BlobWriter {
  #folder: string
  #media: string
  #prepare: () => void
  #part: string
  #hash = sha256()
  #bytes = 0
  #file: FileHandle | undefined
  #turnstile = new Turnstile()
  #failure: { error: unknown } | undefined

  constructor(folder: string, media: string, prepare: () => void) {
    this.#folder = folder
    this.#media = media
    this.#prepare = prepare
    this.#part = partPath(folder)
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#step(async () => {
      const file = await this.#open()
      this.#hash.update(chunk)
      await file.writeFile(chunk)
      this.#bytes += chunk.length
    })
  }

  done(): Promise<Ref> {
    return this.#step(async () => {
      const file = await this.#open()
      await file.sync()
      await this.#close()
      const sha = this.#hash.digest('hex')
      await rename(this.#part, join(this.#folder, sha))
      syncFolder(this.#folder)
      return { sha, media: this.#media, bytes: this.#bytes }
    })
  }

  drop(): Promise<void> {
    return this.#turnstile.pass(() => this.#remove())
  }

  /** One after the other; after a failure nothing more is done, and the room it took is given back. */
  #step<T>(work: () => Promise<T>): Promise<T> {
    return this.#turnstile.pass(async () => {
      if (this.#failure) throw this.#failure.error
      try {
        return await work()
      } catch (error) {
        this.#failure = { error: storeError('write', this.#part, error) }
        await this.#remove()
        throw this.#failure.error
      }
    })
  }

  async #open(): Promise<FileHandle> {
    if (this.#file) return this.#file
    this.#prepare()
    return (this.#file = await open(this.#part, 'wx', 0o600))
  }

  async #close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  async #remove(): Promise<void> {
    await this.#close()
    await rm(this.#part, { force: true })
  }
}
