import type { Store } from '../core/talk/store.ts'
import type { SystemSpec } from '../core/work/system-spec.ts'
import type { Surroundings } from './look.ts'
import type { KeptSpec } from './kept.ts'
import { hostname } from 'node:os'
import { messageOf } from '../base/error-message.ts'
import { isOld, markOf, specDoc } from './kept.ts'

/** `scannedAt` is missing where it was only seen; `asked` names the last time a person had it scanned: a session that was told before is told anew. */
export type Known = { spec: SystemSpec; scannedAt?: number; asked?: number; fresh: boolean }

/** `unkept`: why the next start has to scan again. */
export type Scanned = { spec: SystemSpec; scannedAt: number; unkept?: string }

/** What is known of this machine: kept for a day, and scanned again behind whoever needs it. */
export class Machine {
  #parts: Surroundings
  #doc: ReturnType<typeof specDoc>
  #mark: string
  #seen: Promise<SystemSpec> | undefined
  #scanning: Promise<Scanned> | undefined
  #settled: Promise<unknown> = Promise.resolve()

  constructor(store: Store, parts: Surroundings, host: string = hostname()) {
    this.#parts = parts
    this.#doc = specDoc(store)
    this.#mark = markOf(host, parts.env.PATH)
  }

  /** At once: what was kept, however old, else what can be seen without starting anything. */
  async known(): Promise<Known> {
    const kept = await this.#kept()
    const asked = kept?.asked === undefined ? {} : { asked: kept.asked }
    if (kept?.of === this.#mark)
      return { spec: kept.spec, scannedAt: kept.scannedAt, ...asked, fresh: !isOld(kept, this.#parts.clock.now()) }
    this.#seen ??= seen(this.#parts)
    return { spec: await this.#seen, ...asked, fresh: false }
  }

  /** Scans; whoever asks meanwhile gets the same. `asked`: a person wants it as it is now, and sessions are told of it. */
  async scan(wish: { asked?: true; signal?: AbortSignal } = {}): Promise<Scanned> {
    // What began before they asked may have missed what they mean.
    if (wish.asked) await this.#scanning
    this.#scanning ??= this.#scan(wish).finally(() => (this.#scanning = undefined))
    return this.#scanning
  }

  /** Resolves when nothing that was started for a scan is left. */
  async settled(): Promise<void> {
    await this.#scanning
    await this.#settled
  }

  async #scan({ asked, signal }: { asked?: true; signal?: AbortSignal }): Promise<Scanned> {
    const { scan } = await import('./scan.ts')
    const { spec, settled } = await scan({ ...this.#parts, ...(signal ? { signal } : {}) })
    this.#settled = settled
    const scannedAt = this.#parts.clock.now()
    if (signal?.aborted) return { spec, scannedAt, unkept: 'it was cut short' }
    try {
      await this.#doc.update((was) => kept({ scannedAt, of: this.#mark, spec }, asked ? scannedAt : was?.asked))
      return { spec, scannedAt }
    } catch (error) {
      return { spec, scannedAt, unkept: messageOf(error) }
    }
  }

  /** A file that cannot be read is as good as none: it can be made again. */
  async #kept(): Promise<KeptSpec | null> {
    return this.#doc.read().catch(() => null)
  }
}

/** Loaded only where nothing was kept. */
async function seen(parts: Surroundings): Promise<SystemSpec> {
  const { look } = await import('./look.ts')
  return (await look(parts)).spec
}

const kept = (found: KeptSpec, asked: number | undefined): KeptSpec => ({
  ...found,
  ...(asked === undefined ? {} : { asked }),
})
