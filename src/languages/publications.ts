import type { Clock } from '../base/time/clock.ts'
import type { OpenDocument } from './open-documents.ts'
import type { Published } from './server-connection.ts'
import type { RawDiagnostic } from './server-table.ts'

/** How long a publication must be the last one to count as complete: if it names the file's version, and if not. */
const settleMs = { versioned: 100, plain: 300 }

/** The diagnostics that a server published by itself for the open files: the last publication of each file, numbered by arrival. */
export class Publications {
  #clock: Clock
  #last = new Map<string, Published & { at: number }>()
  #count = 0
  #waiters = new Set<() => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(uri: string, published: Published): void {
    this.#last.set(uri, { ...published, at: ++this.#count })
    for (const wake of [...this.#waiters]) wake()
  }

  get(uri: string): (Published & { at: number }) | undefined {
    return this.#last.get(uri)
  }

  /** Forgets the publications about a file that is about to change. */
  forget(uri: string): void {
    this.#last.delete(uri)
  }

  clear(): void {
    this.#last.clear()
  }

  /** Waits for the publication about a file's current text, until no other follows it. Rejects if the signal aborts. */
  async about({ uri, version }: OpenDocument, signal: AbortSignal): Promise<RawDiagnostic[]> {
    let seen: number | undefined
    for (;;) {
      const now = this.#last.get(uri)
      const isCurrent = now !== undefined && (now.version === undefined || now.version >= version)
      if (isCurrent && now.at === seen) return now.items
      if (isCurrent) {
        seen = now.at
        await this.#clock.sleep(now.version === undefined ? settleMs.plain : settleMs.versioned, signal)
        signal.throwIfAborted()
      } else await this.#next(signal)
    }
  }

  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        this.#waiters.delete(done)
        signal.removeEventListener('abort', done)
        if (signal.aborted) reject(signal.reason)
        else resolve()
      }
      this.#waiters.add(done)
      signal.addEventListener('abort', done, { once: true })
      if (signal.aborted) done()
    })
  }
}
