import type { DatabaseSync } from 'node:sqlite'
import type { Pipeline } from '../../model/tasks/pipeline.ts'
import type { Schedule } from '../../model/plans/schedule.ts'
import type { HubAgent, Task } from '../../model/tasks/task.ts'
import { defined } from '../../../base/defined.ts'
import { randomName } from '../../../base/id.ts'
import { heldStates } from '../../model/hub-ledger.ts'
import { carriedNotes } from '../../model/tasks/task-note.ts'
import { parseTask } from '../../model/tasks/task.ts'
import { StoreError } from '../../../core/talk/store.ts'
import { agentTable, noteTable, pipelineTable, scheduleTable, storedTables } from '../ledger-tables.ts'
import { definitionIn } from '../tables.ts'
import { SqliteRows } from './sqlite-rows.ts'
import { finished, TaskTable } from './task-table.ts'

/** The layout since which every note has its own row; before it, notes were only kept inside their task. */
const notesApart = 1
/** The layout in which tasks have columns, and diffs may still be inside tasks, as an older termaite stored them. */
const columns = 2
/** The layout since which diffs are stored beside the tasks. */
const diffsApart = 3
/** Today's layout, which has rules of machines: an older termaite would ignore them and give tasks to paused agents. */
const today = 4

/**
 * Every table of the ledger. Tasks and most other things are stored as JSON; the other columns are derived from it, and only serve to
 * find rows. Frequent searches have their own index that contains only open tasks, so that finished ones cost nothing.
 */
const tables = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  ${storedTables.map((table) => definitionIn(table, 'sqlite')).join('\n  ')}
  CREATE INDEX IF NOT EXISTS tasks_tail ON tasks (tail);
  CREATE INDEX IF NOT EXISTS tasks_state ON tasks (state, created, id);
  CREATE INDEX IF NOT EXISTS tasks_workspace ON tasks (workspace, state, created, id);
  CREATE INDEX IF NOT EXISTS tasks_agent ON tasks (agent, state, created, id) WHERE agent IS NOT NULL;
  CREATE INDEX IF NOT EXISTS tasks_pipeline ON tasks (pipeline, id) WHERE pipeline IS NOT NULL;
  CREATE INDEX IF NOT EXISTS tasks_merging ON tasks (created, id) WHERE merging = 1;
  CREATE INDEX IF NOT EXISTS tasks_mentions ON tasks (created, id) WHERE mentions = 1;
  CREATE INDEX IF NOT EXISTS tasks_due ON tasks (due) WHERE due IS NOT NULL;
  CREATE INDEX IF NOT EXISTS tasks_deadline ON tasks (deadline) WHERE deadline IS NOT NULL;
  CREATE INDEX IF NOT EXISTS tasks_ready
    ON tasks (workspace, capabilities, wish, rank, created, id, touched) WHERE ready = 1;
  CREATE INDEX IF NOT EXISTS tasks_wished
    ON tasks (workspace, capabilities, wished, touched) WHERE wished IS NOT NULL;
  CREATE INDEX IF NOT EXISTS tasks_ended ON tasks (touched, id) WHERE state IN (${finished});
  CREATE TABLE IF NOT EXISTS state_counts (state TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS counts_added AFTER INSERT ON tasks BEGIN
    INSERT INTO state_counts (state, count) VALUES (new.state, 1) ON CONFLICT (state) DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER IF NOT EXISTS counts_moved AFTER UPDATE OF state ON tasks WHEN old.state <> new.state BEGIN
    UPDATE state_counts SET count = count - 1 WHERE state = old.state;
    INSERT INTO state_counts (state, count) VALUES (new.state, 1) ON CONFLICT (state) DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER IF NOT EXISTS counts_removed AFTER DELETE ON tasks BEGIN
    UPDATE state_counts SET count = count - 1 WHERE state = old.state;
  END;
  CREATE INDEX IF NOT EXISTS removed_tasks_tail ON removed_tasks (tail);
  CREATE INDEX IF NOT EXISTS removed_tasks_at ON removed_tasks (at);
  CREATE TABLE IF NOT EXISTS task_needs (need TEXT NOT NULL, task TEXT NOT NULL, PRIMARY KEY (need, task)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS task_texts (text TEXT NOT NULL, task TEXT NOT NULL, PRIMARY KEY (text, task)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS task_texts_task ON task_texts (task);
  CREATE TABLE IF NOT EXISTS changes (seq INTEGER PRIMARY KEY, change TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS pipelines_due ON pipelines (due) WHERE due IS NOT NULL;
  CREATE INDEX IF NOT EXISTS schedules_next ON schedules (next) WHERE next IS NOT NULL;
  CREATE INDEX IF NOT EXISTS requests_at ON requests (at);
`

/** The tables of an older termaite whose rows get columns. */
const renewed = ['tasks', 'agents', 'pipelines', 'schedules'] as const

/** Makes the tables, or converts those of an older termaite to today's layout. Runs in a transaction. */
export function layOut(db: DatabaseSync, path: string, now: number): void {
  const layout = layoutOf(db)
  if (layout > today)
    throw new StoreError(
      `${path} was written by a newer termaite and cannot be read by this one. Update termaite and start it again.`,
    )
  if (layout >= columns) {
    db.exec(tables)
    if (layout >= diffsApart) db.exec(`PRAGMA user_version = ${today}`)
    return
  }
  const old = renewed.filter((name) => hasTable(db, name))
  for (const name of old) db.exec(`ALTER TABLE ${name} RENAME TO old_${name}`)
  db.exec(tables)
  db.prepare("INSERT INTO meta (name, value) VALUES ('epoch', ?), ('steady', 0)").run(randomName())
  if (old.length > 0) renew(db, old, { now, layout })
  db.exec(`PRAGMA user_version = ${old.length > 0 ? columns : today}`)
}

const layoutOf = (db: DatabaseSync) =>
  (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version

/** Whether the diffs of an older termaite may still be inside tasks. */
export const hasOldTasks = (db: DatabaseSync) => layoutOf(db) < diffsApart

/** Records that no task has to be converted to today's format any more. */
export const finishOldTasks = (db: DatabaseSync) => db.exec(`PRAGMA user_version = ${today}`)

const hasTable = (db: DatabaseSync, name: string) =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined

/** How many rows of an older termaite are read at once. */
const page = 500

/**
 * Copies the rows of an older termaite. It found the tasks that may begin, and the pipelines whose time is used up, by checking all of
 * them after each start; here they become due at once, so that the hub checks them.
 */
function renew(db: DatabaseSync, old: readonly string[], { now, layout }: { now: number; layout: number }): void {
  const rows = new SqliteRows(db)
  const tasks = new TaskTable(rows)
  const has = new Map<string, string>()
  const eachRow = (table: string, column: string, take: (text: string) => void) => {
    if (!old.includes(table)) return
    const rows = db.prepare(`SELECT id, ${column} AS text FROM old_${table} WHERE id > ? ORDER BY id LIMIT ${page}`)
    let last: string | undefined = ''
    while (last !== undefined) {
      const found = rows.all(last) as { id: string; text: string }[]
      for (const { text } of found) take(text)
      last = found.length < page ? undefined : found.at(-1)?.id
    }
    db.exec(`DROP TABLE old_${table}`)
  }
  eachRow('tasks', 'task', (text) => {
    const task = parseTask(JSON.parse(text))
    if (layout < notesApart) for (const note of task.notes) rows.put(noteTable, { task: task.id, note })
    const kept: Task = layout < notesApart ? { ...task, notes: carriedNotes(task.notes) } : task
    if (heldStates.includes(task.state) && task.agent !== undefined) has.set(task.agent, task.id)
    const touched = Math.min(now, Math.max(task.moved, task.heard ?? -Infinity))
    const ready = task.state === 'QUEUED' && task.needs.length === 0 && !task.pipeline
    const isUnsure = !ready && task.state === 'QUEUED'
    tasks.put(
      defined({ task: kept, touched, ready, due: isUnsure || heldStates.includes(task.state) ? now : undefined }),
    )
  })
  eachRow('agents', 'agent', (text) => {
    const agent = JSON.parse(text) as HubAgent
    rows.put(agentTable, defined({ agent, heard: Math.min(now, agent.seen), task: has.get(agent.id) }))
  })
  eachRow('pipelines', 'pipeline', (text) => {
    const pipeline = JSON.parse(text) as Pipeline
    rows.put(pipelineTable, defined({ pipeline, due: pipeline.cap?.timeMs === undefined ? undefined : now }))
  })
  eachRow('schedules', 'schedule', (text) => rows.put(scheduleTable, JSON.parse(text) as Schedule))
}
