import type { Clock } from '../../../base/time/clock.ts'
import type { LedgerStatus } from '../../model/ledger-archive.ts'
import type { TaskState } from '../../model/tasks/task.ts'
import type { PostgresAddress } from './address.ts'
import { openSession } from './connections.ts'
import { ledgerFailure } from './failures.ts'
import { newestVersion, versionOf } from './schema.ts'
import { states } from './statements.ts'

/** Inspects a ledger in PostgreSQL without changing anything. */
export async function postgresStatus(address: PostgresAddress, clock: Clock): Promise<LedgerStatus> {
  const { schema: s, shown } = address
  const session = await openSession(address, clock, 'status').catch((error: unknown) => {
    throw ledgerFailure(error, shown)
  })
  try {
    const version = await versionOf(session, s)
    const problems = (await session.rows<Server>(serverText))[0]!
    const base = { ledger: shown, schema: version, newest: newestVersion }
    const words = [...schemaProblems(version), ...serverProblems(problems, address)]
    if (version === 0) return { ...base, bytes: 0, tasks: [], agents: 0, keys: 0, hubs: [], problems: words }
    const [row] = await session.rows<Facts>(
      `SELECT
        (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = $2 AND c.relkind = 'r') AS bytes,
        (SELECT coalesce(json_agg(json_build_object('state', t.state, 'count', t.count)), '[]') FROM ${s}.ledger l
          CROSS JOIN LATERAL unnest($1::text[], l.counts) AS t(state, count) WHERE t.count > 0) AS tasks,
        (SELECT count(*) FROM ${s}.agents)::float8 AS agents, (SELECT count(*) FROM ${s}.keys)::float8 AS keys`,
      [states, s],
    )
    const hubs = await session.rows<{ host: string; since: number }>(
      `SELECT coalesce(host(client_addr), 'this machine') AS host, (extract(epoch FROM backend_start) * 1000)::float8 AS since
        FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'termaite hub, listening'
        ORDER BY backend_start`,
    )
    return { ...base, ...row!, hubs, problems: words }
  } catch (error) {
    throw ledgerFailure(error, shown)
  } finally {
    await session.end()
  }
}

type Facts = { bytes: number; tasks: { state: TaskState; count: number }[]; agents: number; keys: number }
type Server = {
  fsync: string
  pages: string
  autovacuum: string
  super: boolean
  used: number
  most: number
  oldest: number
}

const serverText = `
  SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
    current_setting('autovacuum') AS autovacuum, rolsuper AS super,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::float8 AS used,
    current_setting('max_connections')::float8 AS most,
    (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend')::float8 AS oldest
  FROM pg_roles WHERE rolname = current_user`

function schemaProblems(version: number): string[] {
  if (version === 0) return ['The ledger has no tables yet. The first hub makes them, or: termaite hub migrate']
  if (version < newestVersion)
    return [
      `The schema is ${version}, and this termaite brings it to ${newestVersion} when a hub starts, or with: termaite hub migrate`,
    ]
  return version > newestVersion
    ? ['A newer termaite has changed the schema. Update termaite here: npm install --global termaite@latest']
    : []
}

function serverProblems(server: Server, { sslmode, host }: PostgresAddress): string[] {
  const words: string[] = []
  if (server.fsync === 'off')
    words.push('fsync is off in the database: a power cut may destroy the whole ledger. Turn it on in postgresql.conf.')
  if (server.pages === 'off')
    words.push(
      'full_page_writes is off in the database: a power cut may damage the ledger. Turn it on in postgresql.conf.',
    )
  if (server.autovacuum === 'off')
    words.push('autovacuum is off in the database: the ledger grows and gets slow. Turn it on in postgresql.conf.')
  if (server.super)
    words.push(
      'The hub uses a superuser of the database. A user of its own with the grants of docs/ledger.md is enough.',
    )
  if (server.used > server.most * 0.8)
    words.push(
      `${server.used} of ${server.most} connections of the database are in use. Raise max_connections, or run fewer hubs.`,
    )
  if (server.oldest > 600)
    words.push(
      `A transaction in the database is ${Math.round(server.oldest / 60)} minutes old, and nothing that was deleted since can be cleaned up. Find it in pg_stat_activity.`,
    )
  const isLocal = host.startsWith('/') || ['localhost', '127.0.0.1', '::1'].includes(host)
  if (!isLocal && (sslmode === 'disable' || sslmode === 'require'))
    words.push(
      sslmode === 'disable'
        ? 'The connection to the database is not encrypted. Use sslmode=verify-full unless nobody else reads the network.'
        : 'The connection is encrypted, but the database does not have to prove who it is. Use sslmode=verify-full with sslrootcert=<file>.',
    )
  return words
}
