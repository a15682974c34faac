import type { Doc, Store } from '../core/talk/store.ts'
import type { SystemSpec } from '../core/work/system-spec.ts'
import { shortHash } from '../base/hash.ts'

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
