import type { TaskState } from '../../model/tasks/task.ts'
import type { Table } from '../tables.ts'
import type { Statement } from './connections.ts'
import { createHash } from 'node:crypto'
import { wholeHub } from '../../model/tasks/machine-rules.ts'
import { isHeld as held } from '../ledger-reads.ts'
import { taskTable } from '../ledger-tables.ts'
import { insertListsText, replacing, selectText } from '../tables.ts'

/** A statement whose name is derived from its text, so that every connection prepares it only once. */
export function statement(name: string, text: string): Statement {
  return { name: `${name} ${createHash('sha256').update(text).digest('hex').slice(0, 12)}`, text }
}

const known = new Map<string, Statement>()

/** A statement whose question marks are replaced by numbers, as PostgreSQL requires. */
export function numbered(name: string, text: string): Statement {
  let last = 0
  const made =
    known.get(text) ??
    statement(
      name,
      text.replaceAll('?', () => `$${++last}`),
    )
  known.set(text, made)
  return made
}

/**
 * All states, in the order in which the ledger stores the counts of their tasks: a new state is added at the end, and the order never
 * changes.
 */
export const states: readonly TaskState[] = [
  'QUEUED',
  'PENDING_ACK',
  'ASSIGNED',
  'IN_PROGRESS',
  'BLOCKED',
  'IN_REVIEW',
  'APPROVED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
]

const finished = `('APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED')`

/** Finished tasks that may be removed and were last touched before $1, by the rule in `LedgerRound.expired`. */
const removable = (s: string) => ({
  needed: `needed AS MATERIALIZED (
    SELECT DISTINCT unnest(needs) AS id FROM ${s}.tasks WHERE state NOT IN ${finished} AND needs <> '{}')`,
  from: `FROM ${s}.tasks t WHERE t.state IN ${finished} AND t.touched < $1 AND NOT t.merging
    AND NOT EXISTS (SELECT 1 FROM needed n WHERE n.id = t.id)
    AND (t.pipeline IS NULL OR NOT EXISTS (
      SELECT 1 FROM ${s}.tasks o WHERE o.pipeline = t.pipeline AND (o.state NOT IN ${finished} OR o.touched >= $1
        OR o.merging OR EXISTS (SELECT 1 FROM needed n WHERE n.id = o.id))))`,
})

/** The statements of a ledger in one schema. Rows are locked in the order of their keys, so that deadlocks between rounds are rare. */
export function ledgerStatements(s: string) {
  const tasks = selectText(taskTable, 'postgres', `${s}.tasks`)
  const { needed, from } = removable(s)
  return {
    begin: 'BEGIN',
    snapshot: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    head: statement('head', `SELECT seq, epoch, ${databaseNow} AS now FROM ${s}.ledger`),
    /** The advisory lock lasts as long as the transaction, so a later search for the round waits until it is over. */
    roundHead: statement(
      'round head',
      `SELECT seq, epoch, ${databaseNow} AS now, pg_advisory_xact_lock($1::bigint) FROM ${s}.ledger`,
    ),
    found: statement('round found', `SELECT (SELECT min(seq) FROM ${s}.changes WHERE round = $1::bigint) AS first`),
    waitForRound: statement('wait for round', 'SELECT pg_advisory_xact_lock($1::bigint)'),

    dependents: statement(
      'dependents',
      `${tasks} WHERE state = 'QUEUED' AND needs <> '{}' AND needs && $1::text[]
        ORDER BY id FOR UPDATE`,
    ),
    overdue: statement('overdue', `${tasks} WHERE wake <= $1 ORDER BY wake, id LIMIT $2 FOR UPDATE SKIP LOCKED`),
    expired: statement(
      'expired',
      `WITH ${needed} SELECT ${taskTable.fields.join(', ')} ${from} ORDER BY t.touched, t.id LIMIT $2 FOR UPDATE OF t SKIP LOCKED`,
    ),
    needed: statement(
      'needed',
      `SELECT DISTINCT n.id FROM ${s}.tasks t, unnest(t.needs) n(id)
        WHERE t.state NOT IN ${finished} AND t.needs <> '{}' AND t.needs && $1::text[] AND n.id = ANY($1)`,
    ),
    prunableTasks: statement(
      'prunable tasks',
      `WITH ${needed} SELECT t.state, count(*)::float8 AS count, sum(octet_length(t.task))::float8 AS bytes ${from}
        GROUP BY t.state ORDER BY t.state`,
    ),
    prunableRest: statement(
      'prunable rest',
      `WITH ${needed}, gone AS MATERIALIZED (SELECT t.id, t.pipeline, t.texts ${from}),
        named AS (SELECT DISTINCT unnest(texts) AS sha FROM gone WHERE texts IS NOT NULL),
        others AS (SELECT DISTINCT unnest(texts) AS sha FROM ${s}.tasks
          WHERE texts IS NOT NULL AND NOT id IN (SELECT id FROM gone)),
        texts AS (SELECT t.bytes FROM named JOIN ${s}.texts t USING (sha) WHERE NOT named.sha IN (SELECT sha FROM others)),
        notes AS (SELECT octet_length(note) AS bytes FROM ${s}.notes JOIN gone ON gone.id = notes.task)
        SELECT (SELECT count(DISTINCT pipeline) FROM gone)::float8 AS pipelines,
          (SELECT count(*) FROM notes)::float8 AS notes, (SELECT coalesce(sum(bytes), 0) FROM notes)::float8 AS note_bytes,
          (SELECT count(*) FROM texts)::float8 AS texts, (SELECT coalesce(sum(bytes), 0) FROM texts)::float8 AS text_bytes`,
    ),
    dropTasks: statement(
      'drop tasks',
      `WITH gone AS (DELETE FROM ${s}.tasks WHERE id = ANY($1))
        DELETE FROM ${s}.notes WHERE task = ANY($1)`,
    ),
    dropMarks: statement(
      'drop marks',
      `DELETE FROM ${s}.marks m USING unnest($1::text[]) k(first) WHERE m.id >= k.first AND m.id < k.first || U&'\\+10FFFF'`,
    ),
    forgetRemoved: statement(
      'forget removed',
      `DELETE FROM ${s}.removed_tasks WHERE id IN (SELECT id FROM ${s}.removed_tasks WHERE at < $1 LIMIT 1000)`,
    ),
    counts: statement(
      'counts',
      `SELECT c.state, c.count::float8 AS count, (SELECT min(created) FROM ${s}.tasks t WHERE t.state = c.state) AS oldest
        FROM ${s}.ledger l CROSS JOIN LATERAL unnest($1::text[], l.counts) AS c(state, count) WHERE c.count > 0`,
    ),
    states: statement('states', `SELECT id, state FROM ${s}.tasks WHERE id = ANY($1) ORDER BY id FOR UPDATE`),
    count: statement('count', `UPDATE ${s}.ledger SET counts = ${added('$1')}`),
    called: statement('called', `SELECT id FROM ${s}.agents WHERE id = ANY($1) AND called`),
    heldOn: statement(
      'held on',
      `SELECT a.machine, count(*)::float8 AS count FROM ${s}.agents a JOIN ${s}.tasks t ON t.agent = a.id AND t.${held}
        WHERE a.machine = ANY($1) GROUP BY a.machine`,
    ),
    since: statement(
      'since',
      `SELECT l.seq AS last, l.epoch, c.seq, c.change FROM ${s}.ledger l
        LEFT JOIN LATERAL (SELECT seq, change FROM ${s}.changes WHERE seq > $1 ORDER BY seq LIMIT $2) c ON true
        ORDER BY c.seq`,
    ),
    untilDue: statement(
      'until due',
      `SELECT least((SELECT min(wake) FROM ${s}.tasks), (SELECT min(due) FROM ${s}.pipelines),
        (SELECT min(next) FROM ${s}.schedules)) - ${databaseNow} AS ms`,
    ),
    bytes: statement(
      'bytes',
      `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::float8 AS bytes FROM pg_class
        WHERE relnamespace = '${s}'::regnamespace AND relkind = 'r'`,
    ),
    claimable: statement('claimable', claimable(s)),

    /**
     * The last statement of a round that changes something. It locks the counter's row until the commit, so that the numbers follow the
     * order of commits and have no gaps: a round that fails returns its numbers.
     */
    putChanges: statement(
      'put changes',
      `WITH counted AS (UPDATE ${s}.ledger SET seq = seq + cardinality($1::text[]), counts = ${added('$5')} RETURNING seq),
        first AS (SELECT seq - cardinality($1::text[]) + 1 AS seq FROM counted),
        put AS (INSERT INTO ${s}.changes (seq, change, round)
          SELECT first.seq + c.at - 1, c.change, CASE WHEN c.at = 1 THEN $2::bigint END
          FROM first, unnest($1::text[]) WITH ORDINALITY AS c(change, at))
        SELECT first.seq, pg_notify($3, counted.seq || $4) FROM first, counted`,
    ),
    sweepChanges: statement(
      'sweep changes',
      `DELETE FROM ${s}.changes WHERE seq <= $1 AND seq IN (SELECT seq FROM ${s}.changes ORDER BY seq LIMIT 20000)`,
    ),
  }
}

export type LedgerStatements = ReturnType<typeof ledgerStatements>

/** The SQL that adds a list of differences to the counts of tasks by state. */
const added = (differences: string) =>
  `(SELECT array_agg(o.count + d.count ORDER BY o.at)
    FROM unnest(counts) WITH ORDINALITY AS o(count, at) JOIN unnest(${differences}::bigint[]) WITH ORDINALITY AS d(count, at) USING (at))`

/** The database's clock, in ms. */
export const databaseNow = `floor(extract(epoch FROM clock_timestamp()) * 1000)::float8`

/**
 * The statements that write rows of a table, given as one list for each column: one inserts new rows, the other writes new and existing
 * rows.
 */
export function rowStatements<Row>(schema: string, table: Table<Row>): { insert: Statement; replace: Statement } {
  const insert = insertListsText(table, schema)
  return {
    insert: numbered(`insert ${table.name}`, insert),
    replace: numbered(`replace ${table.name}`, `${insert} ${replacing(table, 'postgres')}`),
  }
}

/**
 * The rule of `claimants` in SQL. Ready tasks of one kind (workspace, capabilities, wish) have the same agents, so the agents are found
 * once for each kind, and the cost depends on the number of kinds instead of the number of tasks. The first rows are the kinds, with the
 * places of their agents in the query; the others are the tasks.
 * $1 agents, $2 stopped workspaces, $3 tasks to leave out, $4 steady, $5 wishedBefore, $6 awayBefore, $7 the most.
 */
function claimable(s: string): string {
  const fits = (task: string, agent: string) => `(${task}.workspace = ANY(${agent}.workspaces)
      OR EXISTS (SELECT 1 FROM unnest(${agent}.workspaces) w(key)
        WHERE left(w.key, 4) = 'git:' AND right(w.key, 1) = '*' AND starts_with(${task}.workspace, left(w.key, -1))))
    AND ${task}.capabilities <@ ${agent}.capabilities`
  return `
    WITH RECURSIVE kinds AS (
      (SELECT kind, workspace, capabilities, wish FROM ${s}.tasks WHERE ready ORDER BY kind LIMIT 1)
      UNION ALL
      SELECT next.* FROM kinds CROSS JOIN LATERAL (
        SELECT t.kind, t.workspace, t.capabilities, t.wish FROM ${s}.tasks t
        WHERE t.ready AND t.kind > kinds.kind ORDER BY t.kind LIMIT 1) next
    ),
    rules AS MATERIALIZED (
      SELECT r.id, r.labels, r.paused, r.task_limit <= (
        SELECT count(*) FROM ${s}.agents a JOIN ${s}.tasks t ON t.agent = a.id AND t.${held} WHERE a.machine = r.id
      ) AS is_full
      FROM ${s}.machine_rules r
    ),
    present AS NOT MATERIALIZED (
      SELECT a.id, a.workspaces, a.heard, a.wait_until, r.is_full,
        CASE WHEN r.labels IS NULL THEN a.capabilities ELSE a.capabilities || r.labels END AS capabilities
      FROM ${s}.agents a LEFT JOIN rules r ON r.id = a.machine AND r.id <> '${wholeHub}'
      WHERE NOT a.evicted AND NOT a.paused AND r.paused IS NOT TRUE
        AND NOT EXISTS (SELECT 1 FROM rules h WHERE h.id = '${wholeHub}' AND h.paused)
    ),
    asked AS MATERIALIZED (
      SELECT a.id, a.workspaces, a.capabilities, q.at
      FROM unnest($1::text[]) WITH ORDINALITY AS q(id, at) JOIN present a ON a.id = q.id WHERE a.is_full IS NOT TRUE
    ),
    fit AS MATERIALIZED (
      SELECT k.kind, k.wish,
        array_agg(a.at::int ORDER BY (a.id IS NOT DISTINCT FROM k.wish) DESC, a.at) AS agents,
        bool_or(a.id = k.wish) IS TRUE AS has_wished,
        EXISTS (SELECT 1 FROM present w WHERE w.id = k.wish AND ${fits('k', 'w')}
          AND (w.heard >= $6 OR w.wait_until > $4)) AS waits
      FROM kinds k JOIN asked a ON ${fits('k', 'a')}
      WHERE NOT k.workspace = ANY($2::text[])
      GROUP BY k.kind, k.workspace, k.capabilities, k.wish
    ),
    found AS (
      SELECT t.id, f.kind, t.priority, t.created, f.waits AND t.touched >= $5 AS only_wished
      FROM fit f CROSS JOIN LATERAL (
        SELECT id, priority, created, touched FROM ${s}.tasks
        WHERE ready AND kind = f.kind AND NOT id = ANY($3::text[]) AND (NOT f.waits OR f.has_wished OR touched < $5)
        ORDER BY priority DESC, created, id LIMIT $7) t
      ORDER BY t.priority DESC, t.created, t.id LIMIT $7
    )
    SELECT NULL AS id, kind, agents, NULL::boolean AS only_wished, 0 AS at FROM fit
    UNION ALL
    SELECT id, kind, NULL, only_wished, row_number() OVER (ORDER BY priority DESC, created, id) FROM found
    ORDER BY at`
}
