import { messageOf } from '../../../base/error-message.ts'
import { LedgerAway } from '../../model/ledger-away.ts'
import { StoreError } from '../../../core/talk/store.ts'
import { AddressError } from './address.ts'

/** The code of an error that PostgreSQL reported, such as 40001; undefined for an error of the connection. */
export function sqlState(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && severity !== undefined ? code : undefined
}

/** Another round was in the way: the same work can succeed when it is repeated. */
export class RoundConflict extends Error {
  override name = 'RoundConflict'
}

/** Two rounds could not both go on (40001, 40P01), or a row was locked for too long (55P03). */
export const isConflict = (error: unknown) =>
  error instanceof RoundConflict || ['40001', '40P01', '55P03'].includes(sqlState(error) ?? '')

/** A new row exists already, because another round has just inserted it. */
export const isDouble = (error: unknown) => sqlState(error) === '23505'

/**
 * Whether the database cannot be used now but may be later: it does not answer, is starting or stopping, has no connection left, is only a
 * replica, or closed the session because it was idle for too long.
 */
export function isAway(error: unknown): boolean {
  if (error instanceof LedgerAway || error instanceof ConnectionLost) return true
  const state = sqlState(error)
  if (state === undefined) return isNetworkFailure(error)
  return (
    state.startsWith('08') ||
    state.startsWith('57') ||
    ['53300', '25006', '25P03', '25P04', '53200', '53000'].includes(state)
  )
}

/** Whether the same work may succeed at once: another round was in its way, or a session was lost that can be opened again. */
export const mayRepeat = (error: unknown) => isConflict(error) || (isAway(error) && !(error instanceof LedgerAway))

/** The connection was lost before the answer came. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

const networkCodes = /^(E(CONN|HOST|NET|PIPE|TIMEDOUT|ADDR|AI_|NOTFOUND|NOENT|ACCES)|UND_)/
const networkWords = /^(Connection terminated|timeout expired|Client (has encountered|was closed))/

function isNetworkFailure(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  if (error instanceof AddressError) return false
  if (isCertificateFailure(error)) return false
  return (typeof code === 'string' && networkCodes.test(code)) || networkWords.test(messageOf(error))
}

/** Node's error codes for a certificate that it does not accept. */
const certificateCodes =
  /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ERR_TLS|HOSTNAME_MISMATCH|INVALID_PURPOSE|PATH_LENGTH)/

function isCertificateFailure(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && certificateCodes.test(code)
}

/** The messages for errors that a person has to fix, by their code. */
const meanings: Readonly<Record<string, (shown: string) => string>> = {
  '28P01': (shown) =>
    `The database refused the password for ${shown}. Check TERMAITE_LEDGER_PASSWORD or the password file.`,
  '28000': (shown) =>
    `The database does not let this user in: ${shown}. Its administrator allows users and hosts in pg_hba.conf.`,
  '3D000': (shown) => `There is no such database: ${shown}. Create it with: createdb --encoding=UTF8 <name>`,
  '42501': (shown) =>
    `The database user lacks the rights that the hub needs at ${shown}. docs/ledger.md lists the grants; \`termaite hub migrate\` with the owner of the schema makes the tables.`,
  '53100': (shown) => `The disk of the database at ${shown} is full. Free some space; the hub goes on by itself.`,
}

/**
 * Turns an error into the one for the caller: `LedgerAway` if the same request may succeed later, otherwise an error whose message says
 * what to do. The address in the message contains no password.
 */
export function ledgerFailure(error: unknown, shown: string): Error {
  if (error instanceof LedgerAway || error instanceof StoreError || error instanceof AddressError) return error
  const state = sqlState(error)
  const meaning = state === undefined ? undefined : meanings[state]
  if (meaning) return new StoreError(meaning(shown), { cause: plain(error) })
  if (isCertificateFailure(error))
    return new StoreError(
      `The certificate of the database at ${shown} could not be verified: ${messageOf(error)}. Name the root that signed it with sslrootcert=<file> in the address, or give the host its name in the certificate. sslmode=require encrypts without knowing whom it talks to.`,
      { cause: plain(error) },
    )
  if (/does not support SSL/.test(messageOf(error)))
    return new StoreError(
      `The database at ${shown} does not offer TLS. Turn on "ssl" there, or write sslmode=disable into the address where nobody else reads the network.`,
      { cause: plain(error) },
    )
  if (/password must be a (non-empty )?string|requires a password/.test(messageOf(error)))
    return new StoreError(
      `The database asks for a password for ${shown}, and none is known. Set TERMAITE_LEDGER_PASSWORD, or name a file with hub.ledgerPasswordFile.`,
      { cause: plain(error) },
    )
  if (isConflict(error)) return new LedgerAway('other hubs kept changing the same rows')
  if (isAway(error)) return new LedgerAway(reason(error))
  return new StoreError(`The ledger at ${shown} failed: ${messageOf(error)}.`, { cause: plain(error) })
}

/** Why the database cannot be reached, as a short phrase. */
function reason(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there'
    case 'ENOENT':
      return 'its socket is not there'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the name of its host is not known'
    case '57P03':
      return 'the database is starting or stopping'
    case '57P01':
    case '57P02':
      return 'the database ended the connection'
    case '53300':
      return 'the database has no connection left; raise max_connections or run fewer hubs'
    case '25006':
      return 'it is a copy that takes no changes; the address has to lead to the primary'
    case '57014':
      return 'the database took too long for an answer'
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
      return 'there is no route to its host'
    case 'ETIMEDOUT':
      return 'it did not answer in time'
    default:
      if (/timeout expired/.test(messageOf(error))) return 'it did not answer in time'
      // The message of a network error may name addresses that clients of the hub need not know.
      return sqlState(error) === undefined ? 'the connection was lost' : messageOf(error).replace(/\.$/, '')
  }
}

/** A copy of an error without the fields in which a driver may keep the connection and its password. */
function plain(error: unknown): Error {
  return Object.assign(new Error(messageOf(error)), { code: (error as { code?: unknown } | undefined)?.code })
}
