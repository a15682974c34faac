import type { DatabaseSync } from 'node:sqlite'
import { closeSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { randomName } from '../../../base/id.ts'
import { besideDatabase } from '../../../store/set-aside.ts'
import { storeError } from '../../../store/store-error.ts'

/** The suffix of a copy of the ledger; a unique name follows it. */
export const copyEnding = '-copy-'

/** How many pages are copied at once; other work of the process runs in between. */
const copyPages = 2_000
/** How long a copy is kept if nobody removes it. */
const copyMs = 24 * 60 * 60_000

/** Writes a copy of an open ledger beside it, which only its owner can read, and returns the path of the copy. */
export async function copyDatabase(db: DatabaseSync, ledger: string, now: number): Promise<string> {
  const { backup } = await import('node:sqlite')
  const path = `${ledger}${copyEnding}${randomName()}`
  try {
    removeOldCopies(ledger, now)
    closeSync(openSync(path, 'wx', 0o600))
    await backup(db, path, { rate: copyPages })
  } catch (error) {
    removeCopy(path)
    throw storeError('copy', ledger, error)
  }
  return path
}

/** Removes a copy of a ledger. */
export function removeCopy(path: string): void {
  for (const ending of besideDatabase) rmSync(`${path}${ending}`, { force: true })
}

/** Removes copies that have not been used for a day: the command that requested them was killed. */
function removeOldCopies(ledger: string, now: number): void {
  const [folder, name] = [dirname(ledger), `${basename(ledger)}${copyEnding}`]
  for (const copy of readdirSync(folder).filter((one) => one.startsWith(name)))
    if (now - statSync(join(folder, copy)).mtimeMs > copyMs) rmSync(join(folder, copy), { force: true })
}
