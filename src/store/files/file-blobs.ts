import type { Blobs, BlobWriter, Ref } from '../../core/talk/store.ts'
import type { FileHandle } from 'node:fs/promises'
import { sha256 } from '../../base/hash.ts'
import { createReadStream, readdirSync, rmSync, promises } from 'node:fs'
import { join } from 'node:path'
import { isMissing, makeFolder, replaceFile, syncFolder } from '../../base/files/files.ts'
import { isAlive, ownerMark } from '../../base/process/owner.ts'
import { StoreError } from '../../core/talk/store.ts'
import { storeError } from '../store-error.ts'
import { serialQueue } from '../../base/serial-queue.ts'

/** Blobs as files, each named by the hash of its content. */
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
      if (isMissing(error)) throw new StoreError(`${path} is missing; its content is lost`, { cause: error })
      throw storeError('read', path, error)
    }
  }

  /** The size of a body; 0 if it is missing. */
  async bytes(sha: string): Promise<number> {
    return (await promises.stat(join(this.#folder, sha)).catch(() => undefined))?.size ?? 0
  }

  place(ref: Ref): string {
    return this.#path(ref)
  }

  keepOnly(shas: ReadonlySet<string>): Promise<void> {
    return this.removeAll(async (sha) => !shas.has(sha))
  }

  /** Removes every body for which `isOver` returns true; `written` returns the wall-clock time at which the body was written. */
  async removeAll(isOver: (sha: string, written: () => Promise<number>) => Promise<boolean>): Promise<void> {
    try {
      for await (const { name } of await promises.opendir(this.#folder)) {
        const path = join(this.#folder, name)
        const written = async () => (await promises.stat(path)).mtimeMs
        if (partOwner(name) === undefined && (await isOver(name, written))) await promises.rm(path, { force: true })
      }
    } catch (error) {
      if (!isMissing(error)) throw storeError('clear', this.#folder, error)
    }
  }

  async clear(): Promise<void> {
    try {
      await promises.rm(this.#folder, { recursive: true, force: true })
    } catch (error) {
      throw storeError('clear', this.#folder, error)
    }
  }

  /** Returns the path of a blob. A ref comes from a log, so it must not lead out of the folder. */
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

let parts = 0

/**
 * Returns the path for an unfinished body. The path names the process that writes it, so that leftovers of dead processes can be deleted.
 */
function partPath(folder: string): string {
  return join(folder, `part,${ownerMark()},${++parts}`)
}

function partOwner(name: string): string | undefined {
  return name.startsWith('part,') ? name.slice(5, name.lastIndexOf(',')) : undefined
}

/** Writes a body to disk and computes its hash; the body gets its final name when it is complete. */
class FileBlobWriter implements BlobWriter {
  #folder: string
  #media: string
  #prepare: () => void
  #part: string
  #hash = sha256()
  #bytes = 0
  #file: FileHandle | undefined
  #serial = serialQueue()
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
      await promises.rename(this.#part, join(this.#folder, sha))
      syncFolder(this.#folder)
      return { sha, media: this.#media, bytes: this.#bytes }
    })
  }

  drop(): Promise<void> {
    return this.#serial(() => this.#remove())
  }

  /** Runs one step at a time. After a failure no further step runs, and the file is deleted. */
  #step<T>(work: () => Promise<T>): Promise<T> {
    return this.#serial(async () => {
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
    return (this.#file = await promises.open(this.#part, 'wx', 0o600))
  }

  async #close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  async #remove(): Promise<void> {
    await this.#close()
    await promises.rm(this.#part, { force: true })
  }
}
