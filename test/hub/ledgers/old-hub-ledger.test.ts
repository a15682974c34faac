import type { Task } from '../../../src/hub/model/tasks/task.ts'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { HandClock } from '../../hand-clock.ts'
import { fileHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { agentRow, ids, moved, pipeline, queued, row, schedule, taskIn, tried } from '../../contract/ledger-rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'termaite-old-ledger-'))
after(() => rmSync(folder, { recursive: true }))

const minute = 60_000
const clock = new HandClock()

/** The tables of an older termaite, with a row in each; `layout` 0 has no rows for notes. */
function oldLedger(path: string, layout: 0 | 1, tasks: readonly object[]): void {
  const db = new DatabaseSync(path)
  db.exec(`
      BEGIN;
      CREATE TABLE tasks (id TEXT PRIMARY KEY, task TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE agents (id TEXT PRIMARY KEY, agent TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE changes (seq INTEGER PRIMARY KEY, change TEXT NOT NULL);
      CREATE TABLE keys (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, hash TEXT NOT NULL UNIQUE,
        made INTEGER NOT NULL, key TEXT NOT NULL, used INTEGER
      ) WITHOUT ROWID;
      CREATE TABLE marks (id TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE days (workspace TEXT PRIMARY KEY, day TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE pipelines (id TEXT PRIMARY KEY, pipeline TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE schedules (id TEXT PRIMARY KEY, schedule TEXT NOT NULL) WITHOUT ROWID;
      PRAGMA user_version = ${layout};
    `)
  if (layout === 1)
    db.exec(`CREATE TABLE notes (
        task TEXT NOT NULL, number INTEGER NOT NULL, note TEXT NOT NULL, PRIMARY KEY (task, number)
      ) WITHOUT ROWID`)
  const insert = (table: string, id: string, value: object) =>
    db.prepare(`INSERT INTO ${table} VALUES (?, ?)`).run(id, JSON.stringify(value))
  for (const task of tasks) insert('tasks', (task as Task).id, task)
  insert('agents', 'a', agentRow('a', { seen: 77 }).agent)
  insert('marks', 'i\nanna', { item: 'i', person: 'anna', read: true })
  insert('days', '/shop', { workspace: '/shop', day: '2026-11-16', spent: { tokens: 7 } })
  insert('pipelines', 'p1', pipeline('p1'))
  insert('pipelines', 'p2', pipeline('p2', { cap: { timeMs: 5 } }))
  insert('schedules', 's1', schedule('s1', { next: 5 }))
  db.prepare('INSERT INTO changes VALUES (41, ?)').run(JSON.stringify({ seq: 41, ...moved('t1') }))
  const key = { id: 'k', name: 'anna', role: 'member', hash: 'h', made: 1, by: 'me' }
  db.prepare('INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)').run('k', 'anna', 'h', 1, JSON.stringify(key), 9)
  db.exec('COMMIT')
  db.close()
}

test('the ledger of an older termaite is taken over whole, and its notes are numbered', async () => {
  const path = join(folder, 'old.db')
  const now = clock.now()
  const notes = Array.from({ length: 150 }, (_, at) => ({ at, by: 'a', kind: 'progress', text: `step ${at}` }))
  const { why: _, ...untold } = taskIn('FAILED', 'failed') as Task & { why: string }
  oldLedger(path, 0, [
    { ...queued('noted', { created: 3 }), notes },
    untold,
    queued('needing', { needs: ['noted'], wish: 'b' }),
    { ...taskIn('IN_PROGRESS', 'worked'), moved: 5, heard: now + 9 },
    ...Array.from({ length: 600 }, (_, at) => taskIn('COMPLETED', `done-${at}`)),
  ])
  for (let times = 0; times < 2; times++) {
    const ledger = fileHubLedger(path, { clock })
    const numbered = notes.map((one, at) => ({ ...one, number: at + 1 }))
    const read = await ledger.look(async (look) => ({
      seq: look.seq,
      tasks: await look.tasks(['noted', 'failed', 'needing', 'worked']),
      counts: await look.counts(),
      notes: await look.notes('noted', { most: 999 }),
      agents: await look.agents(),
      pipelines: await look.pipelines(),
      schedules: await look.schedules(),
      days: await look.days(),
      marks: await look.marks(),
    }))
    assert.deepEqual(read, {
      seq: 41,
      tasks: [
        {
          task: { ...queued('noted', { created: 3 }), notes: numbered.slice(-20), noted: 150 },
          touched: 1,
          ready: true,
        },
        { task: { ...untold, why: 'failed' }, touched: 1, ready: false },
        // A task that waits for others is due at once, so that the hub looks at it.
        { task: queued('needing', { needs: ['noted'], wish: 'b' }), touched: 1, ready: false, due: now },
        {
          task: { ...taskIn('IN_PROGRESS', 'worked'), moved: 5, heard: now + 9 },
          touched: now,
          ready: false,
          due: now + 10 * minute,
        },
      ],
      counts: [
        { state: 'COMPLETED', count: 600, oldest: 1 },
        { state: 'FAILED', count: 1, oldest: 1 },
        { state: 'IN_PROGRESS', count: 1, oldest: 1 },
        { state: 'QUEUED', count: 2, oldest: 1 },
      ],
      notes: numbered,
      agents: [{ agent: agentRow('a', { seen: 77 }).agent, heard: 77, task: 'worked' }],
      pipelines: [{ pipeline: pipeline('p1') }, { pipeline: pipeline('p2', { cap: { timeMs: 5 } }), due: now }],
      schedules: [schedule('s1', { next: 5 })],
      days: [{ workspace: '/shop', day: '2026-11-16', spent: { tokens: 7 } }],
      marks: [{ item: 'i', person: 'anna', read: true }],
    })
    assert.deepEqual(
      [
        (await ledger.since(40, 9))?.length,
        (await ledger.keys.withHash('h'))?.used,
        ids(await tried(ledger, (round) => round.dependents(['noted']))),
        ids(await ledger.look((look) => look.list({ like: 'ne' }))),
      ],
      [1, 9, ['needing'], ['needing']],
    )
    await ledger.close()
  }
})

test('tasks of an older termaite are given to the hub once, which brings them to the form of today', async () => {
  const path = join(folder, 'older.db')
  const many = Array.from({ length: 450 }, (_, at) => taskIn('COMPLETED', `t${String(at).padStart(3, '0')}`))
  oldLedger(path, 1, many)
  let ledger = fileHubLedger(path, { clock })
  const seen: string[] = []
  const failing = ledger.adopt(async (task) => {
    if (task.id === 't300') throw new Error('the disk is full')
    return task
  })
  await assert.rejects(failing, /the disk is full/)
  await ledger.close()
  ledger = fileHubLedger(path, { clock })
  const change = async (task: Task): Promise<Task> => {
    seen.push(task.id)
    return task.id === 't007' ? { ...task, result: { message: 'a'.repeat(64) } } : task
  }
  await ledger.adopt(change)
  assert.deepEqual(
    seen,
    many.map(({ id }) => id),
  )
  await ledger.adopt(change)
  await ledger.close()
  ledger = fileHubLedger(path, { clock })
  await ledger.adopt(change)
  assert.equal(seen.length, many.length)
  const [changed] = await ledger.look((look) => look.tasks(['t007']))
  assert.deepEqual(changed, row(taskIn('COMPLETED', 't007', { result: { message: 'a'.repeat(64) } })))
  const fresh = fileHubLedger(join(folder, 'fresh.db'))
  await fresh.adopt(async () => assert.fail('a new ledger has no old task'))
  await fresh.close()
  await ledger.close()
})
