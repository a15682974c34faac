import type { Clock } from '../../../base/time/clock.ts'
import type { Blobs, BlobWriter, Ref } from '../../../core/talk/store.ts'
import type { FileBlobs } from '../../../store/files/file-blobs.ts'
import type { MemoryBlobs } from '../../../store/memory-store.ts'
import { timeApart } from '../../../base/time/clock.ts'
import { sizeWords } from '../../../base/text/size-words.ts'
import { StoreError } from '../../../core/talk/store.ts'

/** A text that no task refers to is kept for this long, because a text is stored before the answer that refers to it. */
const youngMs = 24 * 60 * 60_000

/** Long texts are refused while less than this is free, so that there is still room for small changes of tasks. */
const leastFreeBytes = 256 * 1024 * 1024

/** The long texts of a ledger; it also remembers which texts were stored lately. */
export class LedgerTexts implements Blobs {
  #blobs: FileBlobs | MemoryBlobs
  #clock: Clock
  #free: () => number | undefined
  /** When this process stored each text, by `Clock.elapsed`. */
  #stored = new Map<string, number>()

  /** `free` returns the free bytes of the disk. */
  constructor(blobs: FileBlobs | MemoryBlobs, clock: Clock, free: () => number | undefined = () => undefined) {
    this.#blobs = blobs
    this.#clock = clock
    this.#free = free
  }

  async put(body: string | Uint8Array, media: string): Promise<Ref> {
    this.#checkSpace()
    return this.#note(await this.#blobs.put(body, media))
  }

  writer(media: string): BlobWriter {
    const writer = this.#blobs.writer(media)
    return {
      write: async (chunk) => {
        this.#checkSpace()
        await writer.write(chunk)
      },
      done: async () => this.#note(await writer.done()),
      drop: () => writer.drop(),
    }
  }

  read(ref: Ref): AsyncIterable<Uint8Array> {
    return this.#blobs.read(ref)
  }

  place(ref: Ref): string | undefined {
    return this.#blobs.place(ref)
  }

  keepOnly(shas: ReadonlySet<string>): Promise<void> {
    return this.#blobs.keepOnly(shas)
  }

  clear(): Promise<void> {
    return this.#blobs.clear()
  }

  /** The size of a text on the disk; 0 if it is missing. */
  bytes(sha: string): Promise<number> {
    return this.#blobs.bytes(sha)
  }

  /** Removes the texts that no task refers to and that were not stored within the last day. */
  async sweep(isNamed: (sha: string) => boolean): Promise<void> {
    for (const [sha, at] of this.#stored) if (this.#clock.elapsed() - at >= youngMs) this.#stored.delete(sha)
    await this.#blobs.removeAll(
      async (sha, written) =>
        !isNamed(sha) && !this.#stored.has(sha) && timeApart(this.#clock.now(), await written()) >= youngMs,
    )
  }

  #checkSpace(): void {
    const free = this.#free() ?? Infinity
    if (free >= leastFreeBytes) return
    throw new StoreError(
      `the disk of the hub is nearly full (${sizeWords(free)} free), so it takes no diffs and files for now. Make room there: termaite hub prune --older-than 30d, or remove other files`,
    )
  }

  #note(ref: Ref): Ref {
    this.#stored.set(ref.sha, this.#clock.elapsed())
    return ref
  }
}
