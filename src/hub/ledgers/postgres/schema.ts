import type { Clock } from '../../../base/time/clock.ts'
import type { PostgresAddress } from './address.ts'
import type { Session } from './connections.ts'
import { randomUUID } from 'node:crypto'
import { StoreError } from '../../../core/talk/store.ts'
import { openSession } from './connections.ts'
import { ledgerFailure, sqlState } from './failures.ts'

/** A step of the schema. Steps only go forward, and a step that was released never changes. */
type Migration = { name: string; sql(schema: string): string }

/**
 * Text columns that are sorted or compared have the collation "C", so that every database orders them as the hub does. Rows are kept as the
 * JSON text that the hub wrote: the types json and jsonb refuse some texts that a prompt may contain.
 */
const migrations: readonly Migration[] = [
  {
    name: 'tasks, agents, changes, keys, sign-ins and long texts',
    sql: (s) => `
      CREATE TABLE ${s}.ledger (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        version integer NOT NULL, seq bigint NOT NULL, epoch text NOT NULL, counts bigint[] NOT NULL, secret bytea
      ) WITH (fillfactor = 10);
      INSERT INTO ${s}.ledger (version, seq, epoch, counts) VALUES (0, 0, '${randomUUID()}', array_fill(0, ARRAY[10]));

      CREATE TABLE ${s}.tasks (
        id text COLLATE "C" PRIMARY KEY,
        task text NOT NULL,
        touched double precision NOT NULL,
        ready boolean NOT NULL,
        due double precision,
        wake double precision,
        state text COLLATE "C" NOT NULL,
        workspace text COLLATE "C" NOT NULL,
        priority double precision NOT NULL,
        created double precision NOT NULL,
        agent text COLLATE "C",
        wish text COLLATE "C",
        capabilities text[] COLLATE "C" NOT NULL,
        needs text[] COLLATE "C" NOT NULL,
        pipeline text COLLATE "C",
        kind text COLLATE "C",
        merging boolean NOT NULL,
        mentions boolean NOT NULL,
        texts text[]
      ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
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

      CREATE TABLE ${s}.notes (
        task text COLLATE "C", number integer, note text NOT NULL, PRIMARY KEY (task, number)
      );
      CREATE TABLE ${s}.agents (
        id text COLLATE "C" PRIMARY KEY,
        agent text NOT NULL,
        heard double precision NOT NULL,
        wait_hub text, wait_number double precision, wait_until double precision,
        left_at double precision,
        asked text,
        task text,
        workspaces text[] COLLATE "C" NOT NULL,
        capabilities text[] COLLATE "C" NOT NULL,
        evicted boolean NOT NULL,
        called boolean NOT NULL
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
      CREATE TABLE ${s}.pipelines (id text COLLATE "C" PRIMARY KEY, pipeline text NOT NULL, due double precision);
      CREATE INDEX pipelines_due ON ${s}.pipelines (due) WHERE due IS NOT NULL;
      CREATE TABLE ${s}.schedules (id text COLLATE "C" PRIMARY KEY, schedule text NOT NULL, next double precision);
      CREATE TABLE ${s}.days (id text COLLATE "C" PRIMARY KEY, day text NOT NULL);
      CREATE TABLE ${s}.marks (id text COLLATE "C" PRIMARY KEY, mark text NOT NULL);

      CREATE TABLE ${s}.changes (seq bigint PRIMARY KEY, change text NOT NULL, round bigint);
      CREATE UNIQUE INDEX changes_round ON ${s}.changes (round) WHERE round IS NOT NULL;

      CREATE TABLE ${s}.keys (
        id text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL UNIQUE,
        made double precision NOT NULL, key text NOT NULL, used double precision
      );
      CREATE UNIQUE INDEX keys_name ON ${s}.keys (lower(name));
      CREATE TABLE ${s}.links (
        id text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL, made double precision NOT NULL, link text NOT NULL
      );
      CREATE TABLE ${s}.sign_ins (
        id text COLLATE "C" PRIMARY KEY, cookie text COLLATE "C" NOT NULL UNIQUE, made double precision NOT NULL,
        sign_in text NOT NULL, used double precision
      );

      CREATE TABLE ${s}.hub_nodes (id text COLLATE "C" PRIMARY KEY, url text, until double precision NOT NULL);
      CREATE TABLE ${s}.machines (
        machine text COLLATE "C" PRIMARY KEY, key text NOT NULL, key_name text NOT NULL, proof text NOT NULL,
        link integer NOT NULL, since double precision NOT NULL, seen double precision NOT NULL, about text NOT NULL, hub text
      );
      CREATE TABLE ${s}.acts (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at double precision NOT NULL, by text COLLATE "C" NOT NULL,
        key text NOT NULL, role text NOT NULL, address text, act text NOT NULL, subject text, outcome text NOT NULL,
        status integer NOT NULL
      );
      CREATE INDEX acts_by ON ${s}.acts (by, number);
      CREATE INDEX acts_at ON ${s}.acts (at);

      CREATE TABLE ${s}.texts (
        sha text COLLATE "C" PRIMARY KEY, body text COLLATE "C" NOT NULL, bytes double precision NOT NULL,
        made timestamptz NOT NULL DEFAULT clock_timestamp()
      );
      CREATE TABLE ${s}.text_pieces (
        body text COLLATE "C", number integer, made timestamptz NOT NULL DEFAULT clock_timestamp(), piece bytea NOT NULL,
        PRIMARY KEY (body, number)
      );
      ALTER TABLE ${s}.text_pieces ALTER COLUMN piece SET STORAGE EXTERNAL;
    `,
  },
  {
    name: 'rules of machines: pauses, labels and limits',
    // Agents name their machine with each registration. For existing agents it is read from their JSON, as far as SQL can.
    sql: (s) => `
      CREATE TABLE ${s}.machine_rules (
        id text COLLATE "C" PRIMARY KEY, rules text NOT NULL, labels text[] COLLATE "C" NOT NULL,
        task_limit double precision, paused boolean NOT NULL
      );
      ALTER TABLE ${s}.agents ADD COLUMN machine text COLLATE "C", ADD COLUMN paused boolean NOT NULL DEFAULT false;
      UPDATE ${s}.agents SET machine = agent::json #>> '{status,machine}' WHERE agent !~ '\\\\u(0000|d[89a-f])';
      CREATE INDEX agents_machine ON ${s}.agents (machine) WHERE machine IS NOT NULL;
    `,
  },
  {
    name: 'removed tasks and invitations',
    sql: (s) => `
      CREATE TABLE ${s}.removed_tasks (
        id text COLLATE "C" PRIMARY KEY, state text NOT NULL, at double precision NOT NULL, kept double precision NOT NULL
      );
      CREATE INDEX removed_tasks_tail ON ${s}.removed_tasks (reverse(id));
      CREATE INDEX removed_tasks_at ON ${s}.removed_tasks (at);
      CREATE INDEX tasks_ended ON ${s}.tasks (touched, id) WHERE state IN ('APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED');
      CREATE INDEX tasks_needing ON ${s}.tasks (id)
        WHERE state NOT IN ('APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED') AND needs <> '{}';
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
      CREATE INDEX requests_at ON ${s}.requests (at);
    `,
  },
]

/** The newest version that this program knows. */
export const newestVersion = migrations.length

/** The version of the schema, if it exists; 0 before the first migration. */
export async function versionOf(session: Session, schema: string): Promise<number> {
  // The catalog itself is read: a function that looks up a name may remember that it did not exist a moment ago.
  const [found] = await session.rows(
    `SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'ledger'`,
    [schema],
  )
  if (!found) return 0
  const [row] = await session.rows<{ version: number }>(`SELECT version FROM ${schema}.ledger`)
  return row?.version ?? 0
}

/** The error for a schema that a newer termaite has made. */
function tooNew(shown: string, version: number): StoreError {
  return new StoreError(
    `The ledger at ${shown} has the schema ${version}, and this termaite knows schemas up to ${newestVersion}: a newer hub has changed it. Update termaite here with: npm install --global termaite@latest`,
  )
}

type MigrationReport = { from: number; to: number; made: string[] }

/**
 * Brings the schema to the newest version, in one transaction and under a lock, so that hubs that start at the same time do it once. Throws
 * if a newer termaite has made the schema.
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

/** A migration may rewrite large tables. */
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
  for (const { name, sql } of migrations.slice(from)) {
    await session.run(sql(schema), [], migrationMs)
    made.push(name)
  }
  await session.run(`UPDATE ${schema}.ledger SET version = $1`, [newestVersion])
  await session.run('COMMIT')
  return { from, to: newestVersion, made }
}
