import type { Clock } from '../../../base/time/clock.ts'
import type { PostgresAddress } from './address.ts'
import type { Session } from './connections.ts'
import { randomUUID } from 'node:crypto'
import { StoreError } from '../../../core/talk/store.ts'
import { actTable, storedTables } from '../ledger-tables.ts'
import { definitionIn } from '../tables.ts'
import { openSession } from './connections.ts'
import { ledgerFailure, sqlState } from './failures.ts'
import { states } from './statements.ts'

/**
 * The tables of a new ledger. Text columns that are sorted or compared have the collation "C", so that every database orders them as the
 * hub does. Rows are kept as the JSON text that the hub wrote: the types json and jsonb refuse some texts that a prompt may contain.
 */
const newTables = (s: string) => `
  CREATE TABLE ${s}.ledger (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL, seq bigint NOT NULL, epoch text NOT NULL, counts bigint[] NOT NULL, secret bytea
  ) WITH (fillfactor = 10);
  INSERT INTO ${s}.ledger (version, seq, epoch, counts) VALUES (0, 0, '${randomUUID()}', array_fill(0, ARRAY[${states.length}]));
  ${[...storedTables, actTable].map((table) => definitionIn(table, 'postgres', `${s}.${table.name}`)).join('\n  ')}

  ALTER TABLE ${s}.tasks SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0.05);
  CREATE INDEX tasks_ready ON ${s}.tasks (kind, priority DESC, created, id) WHERE ready;
  CREATE INDEX tasks_wake ON ${s}.tasks (wake) WHERE wake IS NOT NULL;
  CREATE INDEX tasks_needs ON ${s}.tasks USING gin (needs) WHERE state = 'QUEUED' AND needs <> '{}';
  CREATE INDEX tasks_state ON ${s}.tasks (state, created, id);
  CREATE INDEX tasks_tail ON ${s}.tasks (reverse(id));
  CREATE INDEX tasks_workspace ON ${s}.tasks (left(workspace, 200), state, created, id);
  CREATE INDEX tasks_agent ON ${s}.tasks (agent, state, created, id) WHERE agent IS NOT NULL;
  CREATE INDEX tasks_pipeline ON ${s}.tasks (pipeline, id) WHERE pipeline IS NOT NULL;
  CREATE INDEX tasks_merging ON ${s}.tasks (created, id) WHERE merging;
  CREATE INDEX tasks_mentions ON ${s}.tasks (created, id) WHERE mentions;
  CREATE INDEX pipelines_due ON ${s}.pipelines (due) WHERE due IS NOT NULL;
  ALTER TABLE ${s}.agents SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
  ${machineIndexes(s)}${removalIndexes(s)}${requestIndexes(s)}
  CREATE INDEX acts_by ON ${s}.acts (by, number);
  CREATE INDEX acts_at ON ${s}.acts (at);

  CREATE TABLE ${s}.changes (seq bigint PRIMARY KEY, change text NOT NULL, round bigint);
  CREATE UNIQUE INDEX changes_round ON ${s}.changes (round) WHERE round IS NOT NULL;
  CREATE TABLE ${s}.hub_nodes (id text COLLATE "C" PRIMARY KEY, url text, until double precision NOT NULL);
  CREATE TABLE ${s}.machines (
    machine text COLLATE "C" PRIMARY KEY, key text NOT NULL, key_name text NOT NULL, proof text NOT NULL,
    link integer NOT NULL, since double precision NOT NULL, seen double precision NOT NULL, about text NOT NULL, hub text
  );
  CREATE TABLE ${s}.texts (
    sha text COLLATE "C" PRIMARY KEY, body text COLLATE "C" NOT NULL, bytes double precision NOT NULL,
    made timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE TABLE ${s}.text_pieces (
    body text COLLATE "C", number integer, made timestamptz NOT NULL DEFAULT clock_timestamp(), piece bytea NOT NULL,
    PRIMARY KEY (body, number)
  );
  ALTER TABLE ${s}.text_pieces ALTER COLUMN piece SET STORAGE EXTERNAL;
`

const machineIndexes = (s: string) => `
  CREATE INDEX agents_machine ON ${s}.agents (machine) WHERE machine IS NOT NULL;`

const removalIndexes = (s: string) => `
  CREATE INDEX removed_tasks_tail ON ${s}.removed_tasks (reverse(id));
  CREATE INDEX removed_tasks_at ON ${s}.removed_tasks (at);
  CREATE INDEX tasks_ended ON ${s}.tasks (touched, id) WHERE state IN ('APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED');
  CREATE INDEX tasks_needing ON ${s}.tasks (id)
    WHERE state NOT IN ('APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED') AND needs <> '{}';`

const requestIndexes = (s: string) => `
  CREATE INDEX requests_at ON ${s}.requests (at);`

/** A step from one version of the schema to the next. Steps only go forward, and a released step never changes. */
type Migration = { name: string; sql(schema: string): string }

const migrations: readonly Migration[] = [
  { name: 'tasks, agents, changes, keys, sign-ins and long texts', sql: newTables },
  {
    name: 'rules of machines: pauses, labels and limits',
    // Agents report their machine with each registration. For existing agents it is read from their JSON, as far as SQL can.
    sql: (s) => `
      CREATE TABLE ${s}.machine_rules (
        id text COLLATE "C" PRIMARY KEY, rules text NOT NULL, labels text[] COLLATE "C" NOT NULL,
        task_limit double precision, paused boolean NOT NULL
      );
      ALTER TABLE ${s}.agents ADD COLUMN machine text COLLATE "C", ADD COLUMN paused boolean NOT NULL DEFAULT false;
      UPDATE ${s}.agents SET machine = agent::json #>> '{status,machine}' WHERE agent !~ '\\\\u(0000|d[89a-f])';
      ${machineIndexes(s)}
    `,
  },
  {
    name: 'removed tasks and invitations',
    sql: (s) => `
      CREATE TABLE ${s}.removed_tasks (
        id text COLLATE "C" PRIMARY KEY, state text NOT NULL, at double precision NOT NULL, kept double precision NOT NULL
      );
      ${removalIndexes(s)}
      CREATE TABLE ${s}.invites (
        id text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL UNIQUE,
        ends double precision NOT NULL, invite text NOT NULL
      );
      CREATE UNIQUE INDEX invites_name ON ${s}.invites (lower(name));
    `,
  },
  {
    name: 'requests that clients may send again',
    sql: (s) => `
      CREATE TABLE ${s}.requests (
        name text COLLATE "C" PRIMARY KEY, run text NOT NULL, body text NOT NULL, at double precision NOT NULL, answer text
      );
      ${requestIndexes(s)}
    `,
  },
]

/** The newest version of the schema that this program supports. */
export const newestVersion = migrations.length

/** The version of the schema, if it exists; 0 before the first migration. */
export async function versionOf(session: Session, schema: string): Promise<number> {
  // Reads the catalog itself, because a function that looks up a name may remember that the name did not exist a moment ago.
  const [found] = await session.rows(
    `SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'ledger'`,
    [schema],
  )
  if (!found) return 0
  const [row] = await session.rows<{ version: number }>(`SELECT version FROM ${schema}.ledger`)
  return row?.version ?? 0
}

/** The error for a schema that a newer termaite has created. */
function tooNew(shown: string, version: number): StoreError {
  return new StoreError(
    `The ledger at ${shown} has the schema ${version}, and this termaite supports schemas up to ${newestVersion}: a newer hub has changed it. Update termaite here with: npm install --global termaite@latest`,
  )
}

type MigrationReport = { from: number; to: number; made: string[] }

/**
 * Brings the schema to the newest version, in one transaction and under a lock, so that hubs that start at the same time do it only once.
 * Throws if a newer termaite has created the schema.
 */
export async function migrate(address: PostgresAddress, clock: Clock): Promise<MigrationReport> {
  const { schema, shown } = address
  const session = await openSession(address, clock, 'migration').catch((error: unknown) => {
    throw ledgerFailure(error, shown)
  })
  try {
    const found = await versionOf(session, schema)
    if (found > newestVersion) throw tooNew(shown, found)
    if (found === newestVersion) return { from: found, to: found, made: [] }
    return await migrateFrom(session, schema, shown)
  } catch (error) {
    if (sqlState(error) === '42501')
      throw new StoreError(
        `The database user may not make the ledger's tables at ${shown}. Run \`termaite hub migrate --ledger <address>\` with the owner of the database or of the schema "${schema}", and then give the hub's user the grants that docs/ledger.md lists.`,
        { cause: error },
      )
    throw ledgerFailure(error, shown)
  } finally {
    await session.end()
  }
}

/** The longest time for a migration, which may rewrite large tables. */
const migrationMs = 3_600_000

async function migrateFrom(session: Session, schema: string, shown: string): Promise<MigrationReport> {
  await session.run('BEGIN')
  await session.run(`SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0`)
  await session.run(
    'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
    [`termaite migrates ${schema}`],
    migrationMs,
  )
  // Another hub may have brought the schema up to date while this one waited for the lock.
  const from = await versionOf(session, schema)
  if (from > newestVersion) throw tooNew(shown, from)
  const [space] = await session.rows('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])
  if (!space) await session.run(`CREATE SCHEMA ${schema}`)
  const made: string[] = []
  for (const [at, { name, sql }] of migrations.slice(from).entries()) {
    // A new ledger gets today's tables at once.
    if (from > 0 || at === 0) await session.run(sql(schema), [], migrationMs)
    made.push(name)
  }
  await session.run(`UPDATE ${schema}.ledger SET version = $1`, [newestVersion])
  await session.run('COMMIT')
  return { from, to: newestVersion, made }
}
