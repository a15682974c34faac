import type { Store, Doc } from '../core/talk/store.ts'
import type { SystemSpec } from '../core/work/system-spec.ts'
import type { Surroundings } from './quick-scan.ts'
import { hostname } from 'node:os'
import { messageOf } from '../base/error-message.ts'
import { shortHash } from '../base/hash.ts'

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
    const { fullScan } = await import('./full-scan.ts')
    const { spec, settled } = await fullScan({ ...this.#parts, ...(signal ? { signal } : {}) })
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
  const { quickScan } = await import('./quick-scan.ts')
  return (await quickScan(parts)).spec
}

const kept = (found: KeptSpec, asked: number | undefined): KeptSpec => ({
  ...found,
  ...(asked === undefined ? {} : { asked }),
})

/** `of`: the machine and the PATH it was found with; `asked`: when a person last wanted it scanned anew. */
export type KeptSpec = { scannedAt: number; of: string; asked?: number; spec: SystemSpec }

const day = 24 * 3_600_000

/** Where the spec is kept; what is none of ours counts as nothing kept, and is replaced. */
export const specDoc = (store: Store): Doc<KeptSpec | null> =>
  store.doc<KeptSpec | null>('system-spec', null, knownSpec)

function knownSpec(found: unknown): KeptSpec | null {
  const { scannedAt, of, spec } = (found ?? {}) as Partial<KeptSpec>
  const isOurs = typeof scannedAt === 'number' && typeof of === 'string' && isSpec(spec)
  return isOurs ? (found as KeptSpec) : null
}

function isSpec(found: unknown): boolean {
  const { os, shell, runtimes, binaries, packageManagers, network } = (found ?? {}) as Partial<SystemSpec>
  return (
    [os, shell, runtimes, binaries, network].every((part) => typeof part === 'object' && part !== null) &&
    Array.isArray(packageManagers)
  )
}

/** A home that several machines share, or a PATH that changed, must not tell of programs that are not there. */
export const markOf = (host: string, path: string | undefined) => shortHash(`${host}\n${path ?? ''}`)

/** A clock that was turned back makes it old, too. */
export function isOld({ scannedAt }: KeptSpec, now: number): boolean {
  return now - scannedAt > day || scannedAt > now
}
