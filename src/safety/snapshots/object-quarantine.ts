import type { Repository } from './snapshot-repository.ts'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { checked, workFile } from './snapshot-repository.ts'

/** A folder for the objects of one snapshot. `admit` moves the objects written so far into the store. */
type Quarantine = { objects: string; admit(): void }

const suffix = '.objects'

/**
 * Runs a take whose objects are written to a separate folder, and moves them into the store when the take has succeeded. A take that
 * fails, for example on a full disk, leaves nothing in the store: neither git's temporary files nor objects that no tree refers to.
 */
export async function inQuarantine<T>(
  repository: Repository,
  work: (quarantine: Quarantine) => Promise<T>,
): Promise<T> {
  const objects = `${workFile(repository)}${suffix}`
  const store = join(repository.dir, 'objects')
  mkdirSync(objects, { recursive: true, mode: 0o700 })
  const admit = () => moveObjects(objects, store)
  try {
    const done = await work({ objects, admit })
    admit()
    return done
  } finally {
    rmSync(objects, { recursive: true, force: true })
  }
}

/** Writes objects of the store, or borrowed ones, into a pack in a quarantine; returns the names of the new packs. */
export async function writePack(
  repository: Repository,
  objects: string,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  mkdirSync(join(objects, 'pack'), { recursive: true, mode: 0o700 })
  const args = ['pack-objects', '--quiet', '--window=0', '--delta-base-offset', join(objects, 'pack', 'pack')]
  const input = `${[...new Set(ids)].join('\n')}\n`
  checked(await repository.git(args, defined({ input, objects, lent: true, signal })))
  return readdirSync(join(objects, 'pack')).filter((name) => name.endsWith('.pack'))
}

/** Removes the quarantines of killed processes: no take lasts as long as `ageMs`. */
export function clearQuarantines(dir: string, now: number, ageMs: number): void {
  for (const name of readdirSync(join(dir, 'work')).filter((one) => one.endsWith(suffix))) {
    const path = join(dir, 'work', name)
    const made = statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? now
    if (now - made > ageMs) rmSync(path, { recursive: true, force: true })
  }
}

/** A pack is usable once its index is there, so the index is moved last. */
const order = (name: string) => (name.endsWith('.idx') ? 1 : 0)

function moveObjects(from: string, to: string): void {
  for (const folder of readdirSync(from)) {
    if (folder !== 'pack' && !/^[0-9a-f]{2}$/.test(folder)) continue
    const names = readdirSync(join(from, folder)).filter((name) => !name.startsWith('tmp_'))
    if (names.length > 0) mkdirSync(join(to, folder), { recursive: true, mode: 0o700 })
    for (const name of names.sort((a, b) => order(a) - order(b)))
      renameSync(join(from, folder, name), join(to, folder, name))
  }
}
