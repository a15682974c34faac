import type { Io } from '../../core/io.ts'
import type { LedgerPlace } from './open-ledger.ts'
import type { OperatorClient } from '../client/operator-client.ts'
import { defined } from '../../base/defined.ts'
import { AuditTrail, subjectOf } from '../engine/audit-trail.ts'
import { Invites } from '../engine/access/invites.ts'
import { HubKeys } from '../engine/access/hub-keys.ts'
import { Retention } from '../engine/rules/task-removal.ts'
import { HubAway, HubRefused } from '../engine/remote-hub.ts'
import { LedgerAway } from '../model/ledger-away.ts'
import { HubError } from '../engine/rules/task-rules.ts'
import { LedgerTaken } from '../ledgers/sqlite/hub-ledger.ts'
import { say, UsageError, voiceOf } from '../../core/io.ts'
import { fileHubAudit } from '../ledgers/sqlite/file-audit.ts'
import { ownHubKey } from '../client/server-access.ts'
import { placeOf } from '../../home/place.ts'
import { readSettings } from '../../settings/settings.ts'
import { auditIn, hubPlace, keyFileVariable, namedHub } from '../client/hub-address.ts'
import { ledgerPlace, openPlace } from './open-ledger.ts'
import { faultOf, HubClient } from '../client/hub-client.ts'

/** The parts of a hub that its owner may change: its keys, the invitations for agent machines, and the removal of finished tasks. */
type OwnerDesk = Pick<
  OperatorClient,
  'keys' | 'addKey' | 'rotateKey' | 'revokeKey' | 'invites' | 'invite' | 'prunable' | 'prune'
>

/** How long to wait for another command to close the ledger, before we say that a hub has it open. */
const patienceMs = 5_000
const napMs = 50

/** The person at this machine, to whom the ledger and the key file belong. */
const person = { id: 'own', name: 'user', role: 'admin' } as const

/**
 * Runs `work` with the keys of the running hub. If no hub runs and none was named, uses the keys in this machine's own ledger, so that
 * keys can be made before the hub is started.
 */
export async function withKeys<T>(io: Io, work: (desk: OwnerDesk) => Promise<T>, server?: string): Promise<T> {
  const { home } = placeOf(io)
  const settings = await readSettings({ home }, { env: io.env })
  // An agent's programs, and a client with a key in its environment, may only use a hub, never the ledger file.
  const hasKey = io.env[keyFileVariable] !== undefined || io.env.TERMAITE_HUB_KEY !== undefined
  const mayOpen = !hasKey && namedHub(io, settings, server) === undefined
  for (const late = io.clock.elapsed() + patienceMs; ;) {
    // A hub that has just started may not have written its address to the file yet.
    const hub = new HubClient(hubPlace(io, settings, server))
    try {
      await hub.me()
      return await work(hub.operators)
    } catch (error) {
      // A hub at the usual address that does not know our key belongs to another home.
      const isOurs = !(error instanceof HubAway || (error instanceof HubRefused && error.status === 401))
      if (!mayOpen || isOurs) throw faultOf(hub, error)
    }
    try {
      return await withLedger(io, home, await ledgerPlace(io, home, settings), work)
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

async function withLedger<T>(
  io: Io,
  home: string,
  place: LedgerPlace,
  work: (desk: OwnerDesk) => Promise<T>,
): Promise<T> {
  const ledger = await openPlace(io, place)
  try {
    const keys = new HubKeys({
      book: ledger.keys,
      own: ownHubKey(io, home),
      clock: ledger.clock,
      invites: ledger.invites,
    })
    const invites = new Invites({ book: ledger.invites, keys, clock: ledger.clock })
    const book = ledger.audit?.() ?? fileHubAudit(auditIn(home), voiceOf(io))
    const trail = new AuditTrail({ book, clock: ledger.clock, tell: (words) => say(io, `termaite: ${words}`) })
    const noted = async <R>(act: string, on: string | undefined, done: Promise<R>): Promise<R> => {
      const made = await done
      await trail.note(defined({ caller: person, act, on: subjectOf(made) ?? on, status: 200 }))
      return made
    }
    const retention = new Retention(ledger)
    try {
      return await work({
        invites: () => invites.list(),
        invite: (name, wish) => noted('invites add', name, invites.make(name, person, wish)),
        prunable: (keptMs) => retention.prunable(keptMs),
        prune: (keptMs) => noted('retention prune', undefined, retention.removeSome(keptMs)),
        keys: () => keys.list(),
        addKey: (name, role, lifeMs) => noted('keys add', name, keys.add(name, role, person, lifeMs)),
        rotateKey: (nameOrId, wish) => noted('keys rotate', nameOrId, keys.rotate(nameOrId, person, wish)),
        revokeKey: (nameOrId) => noted('keys revoke', nameOrId, keys.revoke(nameOrId, person)),
      })
    } finally {
      await trail.close()
    }
  } catch (error) {
    throw error instanceof HubError || error instanceof LedgerAway ? new UsageError(error.message, 1) : error
  } finally {
    await ledger.close()
  }
}
