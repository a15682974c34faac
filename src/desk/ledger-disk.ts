import type { Io } from '../core/io.ts'
import type { Settings } from '../settings/settings.ts'
import { UsageError } from '../core/io.ts'

/** Warns that the disk of this home's ledger is nearly full, or that the ledger in the settings cannot be used. */
export async function ledgerDisk(io: Io, home: string, settings: Settings): Promise<string | undefined> {
  const [{ diskWarning }, { ledgerPlace }] = await Promise.all([
    import('../hub/server/ledger-desk.ts'),
    import('../hub/server/open-ledger.ts'),
  ])
  try {
    return diskWarning(await ledgerPlace(io, home, settings))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return error.message
  }
}
