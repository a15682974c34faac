import type { Env } from '../../../base/env.ts'
import type { ConnectionOptions } from 'node:tls'
import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { messageOf } from '../../../base/error-message.ts'
import { defined } from '../../../base/defined.ts'
import { StoreError } from '../../../core/talk/store.ts'

/** The parsed and checked address of a ledger in PostgreSQL. The password appears in no text that is shown to anybody. */
export type PostgresAddress = {
  host: string
  port: number
  user: string
  database: string
  /** The schema with the ledger's tables. */
  schema: string
  /** The address in the form that may be shown, without the password. */
  shown: string
  /** Whether a connection is encrypted, and how the server's certificate is checked. */
  tls: false | ConnectionOptions
  sslmode: SslMode
  /** The longest time for opening a connection. */
  connectMs: number
  /** Called when the server asks for a password; undefined if no password is known. */
  password(): string | undefined
}

const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof sslModes)[number]

/** The parameters that an address may have, named as PostgreSQL names them; `schema` is the ledger's own. */
const parameters = [
  'host',
  'port',
  'user',
  'dbname',
  'schema',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'passfile',
  'connect_timeout',
]

/** The address cannot be used; the message is a sentence for the person. */
export class AddressError extends StoreError {
  override name = 'AddressError'
}

type AddressPlace = {
  env: Env
  /** A file that contains only the password; the address may name a file instead. */
  passwordFile?: string
  /** Whether the address may contain the password, because its source is readable for its owner only. */
  mayHavePassword?: boolean
}

/** Whether a text is the address of a ledger in PostgreSQL. */
export const isPostgresAddress = (text: string) => /^postgres(ql)?:/i.test(text)

/** Reads an address such as postgres://user@db.example:5432/termaite?sslmode=verify-full. */
export function postgresAddress(text: string, { env, passwordFile, mayHavePassword }: AddressPlace): PostgresAddress {
  const url = urlOf(text)
  const asked = url.searchParams
  const unknown = [...asked.keys()].find((key) => !parameters.includes(key))
  if (unknown === 'password')
    throw new AddressError(`The address of the ledger has the parameter "password". ${passwordPlaces}`)
  if (unknown !== undefined)
    throw new AddressError(
      `The address of the ledger has the unknown parameter "${unknown}", allowed: ${parameters.join(', ')}.`,
    )
  if (url.password !== '' && !mayHavePassword)
    throw new AddressError(`The address of the ledger contains a password. ${passwordPlaces}`)
  const host = asked.get('host') ?? (decodeURIComponent(url.hostname).replace(/^\[(.+)\]$/, '$1') || 'localhost')
  const port = portOf(asked.get('port') ?? (url.port || '5432'))
  const user = asked.get('user') ?? (decodeURIComponent(url.username) || env.PGUSER || userInfo().username)
  const database = asked.get('dbname') ?? (decodeURIComponent(url.pathname.slice(1)) || user)
  const schema = asked.get('schema') ?? 'termaite'
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema) || schema.startsWith('pg_'))
    throw new AddressError(
      `The address of the ledger has the schema "${schema}", allowed: a small letter and then small letters, digits and _, at most 51 in all.`,
    )
  const isLocal = host.startsWith('/') || ['localhost', '127.0.0.1', '::1'].includes(host)
  const sslmode = sslModeOf(asked.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full'))
  const at = host.startsWith('/') ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`
  const file = asked.get('passfile') ?? passwordFile
  return {
    host,
    port,
    user,
    database,
    schema,
    shown: `postgres://${user}@${at}/${database}${schema === 'termaite' ? '' : `?schema=${schema}`}`,
    tls: tlsOf(sslmode, asked, host),
    sslmode,
    connectMs: secondsOf(asked.get('connect_timeout')) * 1000,
    password: () => {
      if (url.password !== '') return decodeURIComponent(url.password)
      return file === undefined ? (env.TERMAITE_LEDGER_PASSWORD ?? env.PGPASSWORD) : passwordIn(file)
    },
  }
}

/**
 * A password inside an address would appear in the list of processes, in the shell's history and in copies of the settings, so it is not
 * accepted there.
 */
const passwordPlaces =
  'A password there can be read by others. Take it out, and give it as TERMAITE_LEDGER_PASSWORD or in a file that only you can read, named by hub.ledgerPasswordFile or ?passfile=.'

/** Node's URL parser rejects an address without a host, such as postgres://user@/database. */
function urlOf(text: string): URL {
  const url = URL.parse(text.replace(/^(\w+:\/\/[^/@?]*@)(?=[/?]|$)/, '$1localhost'))
  if (url && /^postgres(ql)?:$/.test(url.protocol)) return url
  throw new AddressError(
    'The address of the ledger cannot be read. It looks like postgres://user@host:5432/database, or postgres:///database?host=/run/postgresql for a socket.',
  )
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new AddressError(`The address of the ledger has the port "${text}", allowed: 1 to 65535.`)
}

function secondsOf(text: string | null): number {
  const seconds = Number(text ?? 5)
  if (Number.isFinite(seconds) && seconds >= 1 && seconds <= 60) return seconds
  throw new AddressError(`The address of the ledger has connect_timeout=${text}, allowed: 1 to 60 seconds.`)
}

function sslModeOf(text: string): SslMode {
  if ((sslModes as readonly string[]).includes(text)) return text as SslMode
  if (text === 'prefer' || text === 'allow')
    throw new AddressError(
      `The address of the ledger has sslmode=${text}, with which somebody on the network can turn the encryption off. Use sslmode=verify-full, or sslmode=disable on a network that nobody else reads.`,
    )
  throw new AddressError(`The address of the ledger has sslmode=${text}, allowed: ${sslModes.join(', ')}.`)
}

/** The modes mean the same as in PostgreSQL's own programs; `require` checks the certificate if a root is named. */
function tlsOf(mode: SslMode, asked: URLSearchParams, host: string): false | ConnectionOptions {
  const file = (name: string) => {
    const path = asked.get(name)
    return path === null ? undefined : certificateIn(name, path)
  }
  if (mode === 'disable' || host.startsWith('/')) return false
  const ca = asked.get('sslrootcert') === 'system' ? undefined : file('sslrootcert')
  if (mode === 'verify-ca' && ca === undefined)
    throw new AddressError(
      'The address of the ledger has sslmode=verify-ca without sslrootcert=<file>: any certificate of any public authority would do. Name the root, or use sslmode=verify-full.',
    )
  const own = { ca, cert: file('sslcert'), key: file('sslkey') }
  if (mode === 'require' && ca === undefined) return defined({ ...own, rejectUnauthorized: false })
  return mode === 'verify-full' ? defined(own) : defined({ ...own, checkServerIdentity: () => undefined })
}

function certificateIn(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new AddressError(
      `The address of the ledger names ${name}=${path}, which cannot be read: ${messageOf(error)}.`,
    )
  }
}

/**
 * Reads the password from a file that nobody else can read. The file is read for each connection, so that a changed password is picked
 * up.
 */
function passwordIn(path: string): string {
  try {
    const { mode } = statSync(path)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new AddressError(
        `The password of the ledger in ${path} is not used, because others can read that file. Run: chmod 600 ${path}`,
      )
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    if (error instanceof AddressError) throw error
    throw new AddressError(`The file with the password of the ledger cannot be read: ${messageOf(error)}.`)
  }
}
