import type { Io } from '../../core/io.ts'
import type { KeyDesk } from './hub-client.ts'
import { HubKeys } from '../../hub/hub-keys.ts'
import { HubAway, HubRefused } from '../../hub/remote-hub.ts'
import { HubError } from '../../hub/task-rules.ts'
import { fileHubLedger, LedgerTaken } from '../../store/hub-ledger.ts'
import { UsageError, voiceOf } from '../../core/io.ts'
import { ownHubKey } from '../server-access.ts'
import { placeOf } from '../place.ts'
import { readSettings } from '../../settings/settings.ts'
import { hubPlace, keyFileVariable, ledgerIn, namedHub } from './hub-address.ts'
import { faultOf, HubClient } from './hub-client.ts'

/** How long another command may have the ledger open before we say that a hub has it. */
const patienceMs = 5_000
const napMs = 50

/** The person at this machine, whose files the ledger and the key are. */
const person = { id: 'own', name: 'user', role: 'admin' } as const

/**
 * Runs `work` with the keys of the hub that runs; where none does, and no other hub was named, with those in this machine's
 * own ledger, so that keys can be made before the hub is started.
 */
export async function withKeys<T>(io: Io, work: (desk: KeyDesk) => Promise<T>, server?: string): Promise<T> {
  const { home } = placeOf(io)
  const settings = await readSettings({ home }, { env: io.env })
  // An agent's programs, and a client with a key in its environment, reach a hub or nothing.
  const hasKey = io.env[keyFileVariable] !== undefined || io.env.TERMAITE_HUB_KEY !== undefined
  const mayOpen = !hasKey && namedHub(io, settings, server) === undefined
  for (const late = io.clock.elapsed() + patienceMs; ;) {
    // A hub that has just begun may not have told its address yet.
    const hub = new HubClient(hubPlace(io, settings, server))
    try {
      await hub.me()
      return await work(hub)
    } catch (error) {
      // A hub at the usual address that does not know our key runs on another home.
      const isOurs = !(error instanceof HubAway || (error instanceof HubRefused && error.status === 401))
      if (!mayOpen || isOurs) throw faultOf(hub, error)
    }
    try {
      return await withLedger(io, home, work)
    } catch (error) {
      if (!(error instanceof LedgerTaken)) throw error
      if (io.clock.elapsed() > late)
        throw new UsageError(
          `a hub runs on ${home} at another address. Name the address: --server http://127.0.0.1:<port>, or TERMAITE_HUB.`,
          1,
        )
    }
    await io.clock.sleep(napMs, io.signal)
  }
}

async function withLedger<T>(io: Io, home: string, work: (desk: KeyDesk) => Promise<T>): Promise<T> {
  const ledger = fileHubLedger(ledgerIn(home), voiceOf(io))
  try {
    const keys = new HubKeys({ book: ledger.keys, own: ownHubKey(io, home), clock: io.clock })
    return await work({
      keys: async () => keys.list(),
      addKey: async (name, role) => keys.add(name, role, person),
      rotateKey: async (nameOrId) => keys.rotate(nameOrId, person),
      revokeKey: async (nameOrId) => keys.revoke(nameOrId, person),
    })
  } catch (error) {
    throw error instanceof HubError ? new UsageError(error.message, 1) : error
  } finally {
    ledger.close()
  }
}
