import { sha256 } from '../../base/hash.ts'
import { createReadStream, readdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Blobs, BlobWriter, Ref } from '../../core/talk/store.ts'
import { isMissing, makeFolder, replaceFile } from '../../base/files.ts'
import { isAlive } from '../../base/owner.ts'
import { StoreError } from '../../core/talk/store.ts'
import { storeError } from '../trouble.ts'
import { FileBlobWriter, partOwner, partPath } from './blob-writer.ts'

/** Bodies as files named by the hash of their content. */
export class FileBlobs implements Blobs {
  #folder: string
  #swept = false

  constructor(folder: string) {
    this.#folder = folder
  }

  async put(body: string | Uint8Array, media: string): Promise<Ref> {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const ref = { sha: sha256().update(bytes).digest('hex'), media, bytes: bytes.length }
    const path = this.#path(ref)
    try {
      this.#prepare()
      replaceFile(path, bytes, partPath(this.#folder))
    } catch (error) {
      throw storeError('write', path, error)
    }
    return ref
  }

  writer(media: string): BlobWriter {
    return new FileBlobWriter(this.#folder, media, () => this.#prepare())
  }

  async *read(ref: Ref): AsyncGenerator<Uint8Array> {
    const path = this.#path(ref)
    try {
      yield* createReadStream(path)
    } catch (error) {
      if (isMissing(error)) throw new StoreError(`${path} is gone: what it held is lost`, { cause: error })
      throw storeError('read', path, error)
    }
  }

  place(ref: Ref): string {
    return this.#path(ref)
  }

  async clear(): Promise<void> {
    try {
      await rm(this.#folder, { recursive: true, force: true })
    } catch (error) {
      throw storeError('clear', this.#folder, error)
    }
  }

  /** A ref is read from a log, and must not lead out of the folder. */
  #path(ref: Ref): string {
    if (!/^[0-9a-f]{64}$/.test(ref.sha)) throw new StoreError(`${JSON.stringify(ref.sha)} names no stored body`)
    return join(this.#folder, ref.sha)
  }

  #prepare(): void {
    makeFolder(this.#folder)
    if (this.#swept) return
    this.#swept = true
    for (const name of readdirSync(this.#folder)) {
      const owner = partOwner(name)
      if (owner !== undefined && !isAlive(owner)) rmSync(join(this.#folder, name), { force: true })
    }
  }
}
