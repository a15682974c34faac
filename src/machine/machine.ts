import type { Store, Doc } from '../core/talk/store.ts'
import type { SystemSpec } from '../core/profile/system-spec.ts'
import type { Surroundings } from './quick-scan.ts'
import { hostname } from 'node:os'
import { messageOf } from '../base/error-message.ts'
import { shortHash } from '../base/hash.ts'

/**
 * The known facts of the machine. Without `scannedAt` they come from a quick scan. `asked` is when a person last requested a scan:
 * sessions that began earlier get the new facts.
 */
export type Known = { spec: SystemSpec; scannedAt?: number; asked?: number; fresh: boolean }

/** The result of a scan; `unkept` says why it could not be stored. */
export type Scanned = { spec: SystemSpec; scannedAt: number; unkept?: string }

/** The facts about this machine. They are stored for a day and then scanned again in the background. */
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

  /** Returns the facts at once: the stored ones, however old, otherwise those of a quick scan that starts no program. */
  async known(): Promise<Known> {
    const kept = await this.#kept()
    const asked = kept?.asked === undefined ? {} : { asked: kept.asked }
    if (kept?.of === this.#mark)
      return { spec: kept.spec, scannedAt: kept.scannedAt, ...asked, fresh: !isOld(kept, this.#parts.clock.now()) }
    this.#seen ??= seen(this.#parts)
    return { spec: await this.#seen, ...asked, fresh: false }
  }

  /** Scans the machine; calls during a scan share it. `asked`: a person requested the scan, and sessions get its facts. */
  async scan(wish: { asked?: true; signal?: AbortSignal } = {}): Promise<Scanned> {
    // A scan that began before the request may have missed programs that the person has just installed.
    if (wish.asked) await this.#scanning
    this.#scanning ??= this.#scan(wish).finally(() => (this.#scanning = undefined))
    return this.#scanning
  }

  /** Resolves when no program of a scan runs any more. */
  async settled(): Promise<void> {
    await this.#scanning
    await this.#settled
  }

  async #scan({ asked, signal }: { asked?: true; signal?: AbortSignal }): Promise<Scanned> {
    const { fullScan } = await import('./full-scan.ts')
    const { spec, settled } = await fullScan({ ...this.#parts, signal })
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

  /** Reads the stored facts. An unreadable file counts as missing, because it can be made again. */
  async #kept(): Promise<KeptSpec | null> {
    return this.#doc.read().catch(() => null)
  }
}

/** Loads the quick scan only if no facts are stored. */
async function seen(parts: Surroundings): Promise<SystemSpec> {
  const { quickScan } = await import('./quick-scan.ts')
  return (await quickScan(parts)).spec
}

const kept = (found: KeptSpec, asked: number | undefined): KeptSpec => ({
  ...found,
  asked,
})

/**
 * The facts in the form in which they are stored. `of` identifies the machine and its PATH; `asked` is when a person last requested a
 * scan.
 */
export type KeptSpec = { scannedAt: number; of: string; asked?: number; spec: SystemSpec }

const day = 24 * 3_600_000

/** Returns the document of the facts. A document of another form counts as empty and is replaced. */
const specDoc = (store: Store): Doc<KeptSpec | null> => store.doc<KeptSpec | null>('system-spec', null, knownSpec)

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

/** Identifies a machine and its PATH, so that a shared home folder or a changed PATH does not list programs that are missing. */
export const markOf = (host: string, path: string | undefined) => shortHash(`${host}\n${path ?? ''}`)

/** Says whether the facts are older than a day; a scan in the future, after the clock was set back, counts as old too. */
function isOld({ scannedAt }: KeptSpec, now: number): boolean {
  return now - scannedAt > day || scannedAt > now
}
