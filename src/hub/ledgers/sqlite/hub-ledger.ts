import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Clock } from '../../../base/time/clock.ts'
import type { HubInviteBook } from '../../model/access/invitation.ts'
import type { HubKeyBook } from '../../model/access/hub-key.ts'
import type { HubChange, HubLedger, LedgerNews, LedgerRound, TaskRow } from '../../model/hub-ledger.ts'
import type { HubRequestBook } from '../../../core/work/hub-request.ts'
import type { Prunable } from '../../model/tasks/removed-tasks.ts'
import type { SignInBook } from '../../model/access/sign-in.ts'
import type { Task, TaskState } from '../../model/tasks/task.ts'
import type { StoreVoice } from '../../../store/set-aside.ts'
import type { AnyTable } from '../ledger-tables.ts'
import type { LedgerMoment, LedgerTables } from './ledger-round.ts'
import { dirname } from 'node:path'
import { setImmediate as breath } from 'node:timers/promises'
import { freeBytes } from '../../../base/files/disk-space.ts'
import { realClock } from '../../../base/time/clock.ts'
import { defined } from '../../../base/defined.ts'
import { serialQueue } from '../../../base/serial-queue.ts'
import { readBody } from '../../../core/talk/store.ts'
import { heldStates } from '../../model/hub-ledger.ts'
import { FileBlobs } from '../../../store/files/file-blobs.ts'
import { MemoryBlobs } from '../../../store/memory-store.ts'
import { besideDatabase, setAside } from '../../../store/set-aside.ts'
import { busy, inTransaction, isDamaged, memoryDatabase, openDatabase, sqliteCode } from '../../../store/sqlite.ts'
import { nameErrors, storeError } from '../../../store/store-error.ts'
import { LedgerInviteBook } from '../invite-book.ts'
import { LedgerKeyBook } from '../key-book.ts'
import { resumeMs } from '../ledger-rows.ts'
import { taskTable } from '../ledger-tables.ts'
import { LedgerRequestBook } from '../request-book.ts'
import { LedgerSignInBook } from '../sign-in-book.ts'
import { AgentTable } from './agent-table.ts'
import { ChangeTable } from './change-table.ts'
import { copyDatabase } from './ledger-copy.ts'
import { finishOldTasks, hasOldTasks, layOut } from './ledger-layout.ts'
import { SqliteLook, SqliteRound } from './ledger-round.ts'
import { LedgerTexts } from './ledger-texts.ts'
import { ReadyTasks } from './ready-tasks.ts'
import { SqliteRows } from './sqlite-rows.ts'
import { SqliteBooks } from './sqlite-books.ts'
import { TaskTable } from './task-table.ts'

/** The suffix of the folder beside the ledger with the long texts of its tasks. */
export const textsEnding = '-texts'

/** How many free pages are returned to the disk at once, so that nobody waits long. */
const shrinkPages = 1_000

/** The size of a piece of a long text in a backup. */
const pieceBytes = 256 * 1024

/** How many tasks of an older termaite are converted to today's format at once. */
const page = 200

/** Another process has the ledger open. */
export class LedgerTaken extends Error {
  constructor(path: string) {
    super(`another process has ${path} open`)
  }
}

/**
 * `mostChanges`: how many changes are stored for followers that fall behind; `free` returns the free bytes of the disk; `texts`: the
 * folder of the long texts, if it is not beside the ledger.
 */
type FileLedgerOptions = Partial<StoreVoice> & {
  texts?: string
  mostChanges?: number | undefined
  free?: () => number | undefined
}

/** A hub's ledger in SQLite, which only one process at a time can open. A damaged file is set aside, and a new one is created. */
export function fileHubLedger(
  path: string,
  {
    clock = realClock,
    tell,
    mostChanges,
    free = () => freeBytes(dirname(path)),
    texts = `${path}${textsEnding}`,
  }: FileLedgerOptions = {},
): SqliteLedger {
  const parts = { path, clock, mostChanges, free, blobs: new FileBlobs(texts) }
  try {
    return openLedger(openDatabase(path), parts)
  } catch (error) {
    if (!isDamaged(error, path)) throw error
    setAside(path, defined({ clock, tell }), [...besideDatabase, textsEnding])
    return openLedger(openDatabase(path), parts)
  }
}

/** A ledger that lasts as long as this process. */
export function memoryHubLedger({ clock = realClock }: { clock?: Clock } = {}): SqliteLedger {
  return openLedger(memoryDatabase(), { path: 'the ledger in memory', clock, blobs: new MemoryBlobs() })
}

type Parts = {
  path: string
  clock: Clock
  blobs: FileBlobs | MemoryBlobs
  mostChanges?: number | undefined
  free?: () => number | undefined
}

function openLedger(db: DatabaseSync, parts: Parts): SqliteLedger {
  const { path, clock } = parts
  try {
    // Only a new file accepts this setting, with which free pages can be returned to the disk later.
    db.exec('PRAGMA auto_vacuum = INCREMENTAL')
    // Takes an exclusive lock with the first statement: a second process is refused, and a dead process leaves no lock behind.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    inTransaction(db, () => layOut(db, path, clock.now()))
    return new SqliteLedger(db, parts)
  } catch (error) {
    db.close()
    if (sqliteCode(error) === busy) throw new LedgerTaken(path)
    throw storeError('open', path, error)
  }
}

/** Rounds and looks run one after another on one connection; a round is one transaction. */
export class SqliteLedger implements HubLedger {
  readonly keys: HubKeyBook
  readonly invites: HubInviteBook
  readonly signIns: SignInBook
  readonly requests: HubRequestBook
  readonly blobs: LedgerTexts
  readonly isShared = false
  #db: DatabaseSync
  #path: string
  #free: () => number | undefined
  readonly clock: Clock
  #tables: LedgerTables
  #serial = serialQueue()
  #listeners = new Set<(news: LedgerNews) => void>()
  #epoch: string
  #seq: number
  /** The steady time at the moment when `Clock.elapsed` was 0. */
  #began: number
  #keepSteady: StatementSync

  constructor(db: DatabaseSync, { path, clock, blobs, mostChanges, free = () => undefined }: Parts) {
    this.#db = db
    this.#path = path
    this.clock = clock
    const rows = new SqliteRows(db)
    const [agents, tasks] = [new AgentTable(rows), new TaskTable(rows)]
    const ready = new ReadyTasks(rows, { agents, tasks })
    this.#tables = { rows, tasks, agents, ready, changes: new ChangeTable(rows, mostChanges) }
    const books = new SqliteBooks(path, rows, (work) => this.#serial(async () => inTransaction(db, work)))
    this.keys = new LedgerKeyBook(books)
    this.invites = new LedgerInviteBook(books)
    this.signIns = new LedgerSignInBook(books)
    this.requests = new LedgerRequestBook(books)
    this.#free = free
    this.blobs = new LedgerTexts(blobs, clock, free)
    const stored = db.prepare('SELECT value FROM meta WHERE name = ?')
    const meta = <T>(name: string) => (stored.get(name) as { value: T }).value
    this.#epoch = meta('epoch')
    this.#seq = this.#tables.changes.last()
    // The clock may have been set back since the ledger was last open: its steady time continues from its last value.
    this.#began = Math.max(clock.now(), meta('steady')) - clock.elapsed()
    this.#keepSteady = db.prepare("UPDATE meta SET value = ? WHERE name = 'steady'")
    inTransaction(db, () => this.#resume())
  }

  round<T, E = undefined>(
    work: (round: LedgerRound, early: E) => Promise<T>,
    early?: (round: LedgerRound) => Promise<E>,
  ): Promise<T> {
    return this.#serial(async () => {
      const round = new SqliteRound(this.#tables, this.#moment(), this.#access)
      let result: T
      try {
        result = await work(round, (await early?.(round)) as E)
        if (round.failure) throw round.failure.error
        if (this.#db.isTransaction) this.#commit(round)
      } catch (error) {
        this.#takeBack()
        throw error
      }
      const { changes, callsAgents } = round
      if (changes.length > 0) this.#tell({ seq: this.#seq, claimable: callsAgents })
      return result
    })
  }

  look<T>(work: (look: SqliteLook) => Promise<T>): Promise<T> {
    return this.#serial(() => work(new SqliteLook(this.#tables, this.#moment(), this.#access)))
  }

  untilDue(): Promise<number | undefined> {
    return this.look(async ({ now, steady }) =>
      this.#access('read', () => {
        const { rows } = this.#tables
        const first = (table: string, column: string) => {
          const sql = `SELECT ${column} AS at FROM ${table} WHERE ${column} IS NOT NULL ORDER BY ${column} LIMIT 1`
          return (rows.statement(sql).get() as { at: number } | undefined)?.at ?? Infinity
        }
        const byDay = [first('tasks', 'deadline'), first('pipelines', 'due'), first('schedules', 'next')]
        const next = Math.min(first('tasks', 'due') - steady, Math.min(...byDay) - now)
        return next === Infinity ? undefined : Math.max(0, next)
      }),
    )
  }

  since(seq: number, most: number, epoch = this.#epoch): Promise<HubChange[] | undefined> {
    return this.look(async () =>
      epoch === this.#epoch ? this.#access('read', () => this.#tables.changes.since(seq, most)) : undefined,
    )
  }

  listen(told: (news: LedgerNews) => void): () => void {
    // Each call wraps its function, so that one function can listen twice and stop once.
    const listener = (news: LedgerNews) => told(news)
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Counts page by page, so that other work can run in between. */
  async prunable(keptMs: number): Promise<Prunable> {
    const { tasks } = this.#tables
    const before = this.#moment().steady - keptMs
    const read = async <T>(work: () => T): Promise<T> => {
      await breath()
      return this.look(async () => this.#access('read', work))
    }
    const [gone, texts, pipelines] = [new Set<string>(), new Set<string>(), new Set<string>()]
    const counts = new Map<TaskState, number>()
    let [notes, bytes] = [0, 0]
    for (let last: { touched: number; id: string } | undefined = { touched: -1e15, id: '' }; last;) {
      const after: { touched: number; id: string } = last
      const some = await read(() => tasks.prunable(before, after, page))
      for (const task of some) {
        gone.add(task.id)
        counts.set(task.state, (counts.get(task.state) ?? 0) + 1)
        if (task.pipeline !== null) pipelines.add(task.pipeline)
        for (const text of task.texts) texts.add(text)
        notes += task.notes
        bytes += task.bytes
      }
      last = some.length < page ? undefined : some.at(-1)
    }
    let count = 0
    for (const text of texts) {
      if (!(await read(() => tasks.naming(text))).every((id) => gone.has(id))) continue
      count++
      bytes += await this.blobs.bytes(text)
    }
    const states = [...counts].map(([state, each]) => ({ state, count: each }))
    return {
      tasks: states.toSorted((a, b) => (a.state < b.state ? -1 : 1)),
      pipelines: pipelines.size,
      notes,
      texts: count,
      bytes,
    }
  }

  async shrink(): Promise<void> {
    for (let left = true; left; await breath())
      left = await this.#serial(async () =>
        nameErrors('write', this.#path, () => {
          const free = () =>
            (this.#db.prepare('PRAGMA freelist_count').get() as { freelist_count: number }).freelist_count
          const before = free()
          if (before > 0) this.#db.exec(`PRAGMA incremental_vacuum(${shrinkPages})`)
          // A ledger created by an older termaite keeps its free pages for new rows.
          return before > shrinkPages && free() < before
        }),
      )
  }

  async bytes(): Promise<number> {
    return nameErrors('read', this.#path, () => {
      const { page_count: count } = this.#db.prepare('PRAGMA page_count').get() as { page_count: number }
      const { page_size: size } = this.#db.prepare('PRAGMA page_size').get() as { page_size: number }
      return count * size
    })
  }

  freeBytes(): number | undefined {
    return this.#free()
  }

  /** No round may run at the same time: the copy would contain changes that the round may still roll back. */
  copy(): Promise<string> {
    return this.#serial(() => copyDatabase(this.#db, this.#path, this.clock.now()))
  }

  /** The long texts that tasks refer to. A missing text is left out; its task says that it is missing when it is shown. */
  async *texts() {
    const sql = 'SELECT DISTINCT text AS sha FROM task_texts'
    const named = await this.look(async () => this.#access('read', () => this.#tables.rows.statement(sql).all()))
    for (const { sha } of named as { sha: string }[]) {
      const body = await readBody(this.blobs, { sha, media: 'text/plain', bytes: 0 })
      if (!body) continue
      const starts = Array.from({ length: Math.ceil(body.length / pieceBytes) }, (_, at) => at * pieceBytes)
      yield { sha, bytes: body.length, pieces: starts.map((at) => body.subarray(at, at + pieceBytes)) }
    }
  }

  /** Stores rows during a restore; resolves to their number. */
  put(table: AnyTable, rows: readonly unknown[]): Promise<number> {
    const { tasks, rows: stored } = this.#tables
    return this.#serial(async () =>
      nameErrors('write', this.#path, () =>
        inTransaction(this.#db, () => {
          for (const row of rows)
            if (table.name === taskTable.name) tasks.put(row as TaskRow)
            else stored.put(table, row)
          return rows.length
        }),
      ),
    )
  }

  async hasText(sha: string): Promise<boolean> {
    return (await this.blobs.bytes(sha)) > 0
  }

  sweep(): Promise<void> {
    return this.blobs.sweep((text) => this.#access('read', () => this.#tables.tasks.names(text)))
  }

  async adopt(change: (task: Task) => Promise<Task>): Promise<void> {
    const { tasks } = this.#tables
    if (!hasOldTasks(this.#db)) return
    for (let last: string | undefined = ''; last !== undefined;)
      last = await this.#serial(async () => {
        const rows = this.#access('read', () => tasks.after(last!, page))
        const changed = await Promise.all(rows.map(async (row) => ({ row, task: await change(row.task) })))
        nameErrors('write', this.#path, () =>
          inTransaction(this.#db, () => {
            for (const { row, task } of changed) if (task !== row.task) tasks.put({ ...row, task })
            if (rows.length < page) finishOldTasks(this.#db)
          }),
        )
        return rows.length < page ? undefined : rows.at(-1)?.task.id
      })
  }

  close(): Promise<void> {
    return this.#serial(async () => {
      if (this.#db.isOpen) this.#db.close()
    })
  }

  /** Adjusts the rows after a time without a hub: no agent waits any more, and no agent could report. */
  #resume(): void {
    const { agents, tasks } = this.#tables
    const { steady } = this.#moment()
    agents.hangUp()
    tasks.noteNeeds()
    for (const state of heldStates) tasks.extend(state, steady + resumeMs(state))
  }

  #moment(): LedgerMoment {
    const steady = Math.round(this.#began + this.clock.elapsed())
    return { seq: this.#seq, epoch: this.#epoch, now: this.clock.now(), steady }
  }

  /** Wraps a read or a write; the first write of a round begins its transaction. */
  #access = <T>(verb: 'read' | 'write', work: () => T): T =>
    nameErrors(verb, this.#path, () => {
      if (verb === 'write' && !this.#db.isTransaction) this.#db.exec('BEGIN IMMEDIATE')
      return work()
    })

  #commit({ changes, steady }: SqliteRound): void {
    nameErrors('write', this.#path, () => {
      this.#keepSteady.run(steady)
      this.#db.exec('COMMIT')
    })
    this.#seq += changes.length
  }

  /** Rolls back everything that a round has written, unless SQLite already did so after a failure. */
  #takeBack(): void {
    if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
    if (this.#db.isOpen) this.#tables.agents.reload()
  }

  #tell(news: LedgerNews): void {
    // A listener that throws must not fail a round that is already durable.
    for (const told of this.#listeners) queueMicrotask(() => told(news))
  }
}
