import type { Io } from '../../core/io.ts'
import type { HubLedger } from '../model/hub-ledger.ts'
import type { Settings } from '../../settings/settings.ts'
import type { PostgresAddress } from '../ledgers/postgres/address.ts'
import { defined } from '../../base/defined.ts'
import { LedgerAway } from '../model/ledger-away.ts'
import { say, UsageError, voiceOf } from '../../core/io.ts'
import { fileHubLedger, LedgerTaken } from '../ledgers/sqlite/hub-ledger.ts'
import { ledgerIn } from '../client/hub-address.ts'

/** Where a hub stores its tasks: in a file of this home, or in a database that several hubs may share. */
export type LedgerPlace = { path: string } | { address: PostgresAddress }

/** The parts of the settings that name the ledger. */
type LedgerSettings = { hub: Pick<Settings['hub'], 'ledger' | 'ledgerPasswordFile'> }

/** Finds the ledger: by the command's option, the environment, the settings, or as the file of this home. */
export async function ledgerPlace(
  { env }: Pick<Io, 'env'>,
  home: string,
  { hub }: LedgerSettings,
  named?: string,
): Promise<LedgerPlace> {
  const text = named ?? env.TERMAITE_LEDGER ?? hub.ledger
  if (text === undefined || text === '') return { path: ledgerIn(home) }
  const { AddressError, isPostgresAddress, postgresAddress } = await import('../ledgers/postgres/address.ts')
  const from = named !== undefined ? '--ledger' : env.TERMAITE_LEDGER !== undefined ? 'TERMAITE_LEDGER' : 'hub.ledger'
  if (!isPostgresAddress(text))
    throw new UsageError(
      `${from}: allowed is the address of a PostgreSQL database, as in postgres://termaite@db.example/termaite. Leave it out to keep tasks in a file of this machine.`,
    )
  try {
    // Options and settings can be seen by others: in the list of processes, the shell's history and copies of files.
    const mayHavePassword = from === 'TERMAITE_LEDGER'
    return { address: postgresAddress(text, defined({ env, mayHavePassword, passwordFile: hub.ledgerPasswordFile })) }
  } catch (error) {
    if (error instanceof AddressError) throw new UsageError(`${from}: ${error.message}`)
    throw error
  }
}

/** The name of a ledger on a screen, without a password. */
export const ledgerWords = (place: LedgerPlace) => ('path' in place ? place.path : place.address.shown)

/** Opens a ledger. Throws `LedgerTaken` if it is a file that another process has open. */
export async function openPlace(
  io: Pick<Io, 'clock' | 'err'>,
  place: LedgerPlace,
  mostChanges?: number,
): Promise<HubLedger> {
  if ('path' in place) return fileHubLedger(place.path, { ...voiceOf(io), mostChanges })
  const { postgresLedger } = await import('../ledgers/postgres/postgres-ledger.ts')
  return postgresLedger(place.address, { clock: io.clock, mostChanges })
}

/** How long a starting hub waits for its database, which may be starting too. */
const startMs = 60_000
const napMs = 1_000

/** Opens the ledger of a hub that starts. */
export async function openLedger(
  io: Pick<Io, 'clock' | 'err' | 'signal'>,
  home: string,
  place: LedgerPlace,
  mostChanges?: number,
): Promise<HubLedger> {
  for (const late = io.clock.elapsed() + startMs, said = new Set<string>(); ;)
    try {
      return await openPlace(io, place, mostChanges)
    } catch (error) {
      if (error instanceof LedgerTaken)
        throw new UsageError(`a hub already runs on ${home}; \`termaite ps\` shows it.`, 1)
      if (!(error instanceof LedgerAway)) throw error
      if (io.signal.aborted || io.clock.elapsed() > late) throw new UsageError(error.message, 1)
      if (!said.has(error.message)) say(io, `termaite: ${error.message}`)
      said.add(error.message)
      await io.clock.sleep(napMs, io.signal)
    }
}
