import type { Clock } from '../../../base/time/clock.ts'
import type { HubChange, HubLedger, LedgerLook, LedgerNews, LedgerRound, NewChange } from '../../model/hub-ledger.ts'
import type { AuditBounds, HubAuditBook } from '../../model/access/hub-audit.ts'
import type { Prunable } from '../../model/tasks/removed-tasks.ts'
import type { TaskState } from '../../model/tasks/task.ts'
import type { HubBook } from '../../model/hub-book.ts'
import type { PostgresAddress } from './address.ts'
import type { Session, Statement } from './connections.ts'
import type { Head } from './reads.ts'
import type { RoundEnd } from './round.ts'
import { randomBytes } from 'node:crypto'
import { realClock } from '../../../base/time/clock.ts'
import { randomName } from '../../../base/id.ts'
import { LedgerAway } from '../../model/ledger-away.ts'
import { LedgerInviteBook } from '../invite-book.ts'
import { LedgerKeyBook } from '../key-book.ts'
import { LedgerRequestBook } from '../request-book.ts'
import { LedgerSignInBook } from '../sign-in-book.ts'
import { PostgresAuditBook } from './postgres-audit.ts'
import { PostgresBlobs } from './blobs.ts'
import { PostgresHubBook } from './hub-book.ts'
import { DatabaseClock } from './database-clock.ts'
import { Connections } from './connections.ts'
import { isAway, isConflict, isDouble, ledgerFailure, mayRepeat, sqlState } from './failures.ts'
import { Listener } from './listener.ts'
import { PostgresBooks } from './postgres-books.ts'
import { epochOf, PostgresReads } from './reads.ts'
import { PostgresRound } from './round.ts'
import { migrate } from './schema.ts'
import { ledgerStatements } from './statements.ts'

/**
 * How many changes are stored by default for followers that fell behind; a follower that is further behind reads the whole state again.
 */
const usualChanges = 100_000
/** Old changes are deleted each time this many new ones were stored. */
const sweepEvery = 2_000
/** How often a round is repeated because another round was in the way. */
const mostTries = 20
/** How often work is repeated because the connection was lost: more often than there are connections, since all of them may be dead. */
const mostLosses = 6
/** How long a hub looks for a round whose commit was not answered. */
const lookForMs = 30_000
/** The longest time for counting the effect of a removal. */
const countMs = 300_000

type PostgresLedgerOptions = {
  clock?: Clock
  /** The most connections besides the one that listens. */
  most?: number
  /** How many changes are stored for followers that fall behind. */
  mostChanges?: number | undefined
}

/** Opens a ledger in PostgreSQL; its tables are first created or brought up to date. */
export async function postgresLedger(
  address: PostgresAddress,
  { clock = realClock, most = 4, mostChanges }: PostgresLedgerOptions = {},
): Promise<PostgresLedger> {
  await migrate(address, clock)
  const ledger = new PostgresLedger(address, clock, most, mostChanges)
  await ledger.open()
  return ledger
}

class PostgresLedger implements HubLedger {
  readonly isShared = true
  readonly keys: LedgerKeyBook
  readonly invites: LedgerInviteBook
  readonly signIns: LedgerSignInBook
  readonly requests: LedgerRequestBook
  readonly blobs: PostgresBlobs
  readonly book: HubBook
  readonly address: PostgresAddress
  readonly clock: DatabaseClock
  #clock: Clock
  #connections: Connections
  #books: PostgresBooks
  #listener: Listener
  #sql
  /** Identifies this hub in the ledger's announcements. */
  #hub = randomName()
  #mostChanges: number
  #sweeping: Promise<void> | undefined
  /** Old changes are deleted again after the change with this number. */
  #sweepAt = 0

  constructor(address: PostgresAddress, clock: Clock, most: number, mostChanges = usualChanges) {
    const { schema } = address
    this.#mostChanges = mostChanges
    this.address = address
    this.#clock = clock
    this.clock = new DatabaseClock(clock)
    this.#connections = new Connections(address, clock, most)
    this.#listener = new Listener(address, clock, this.#hub)
    this.#sql = ledgerStatements(schema)
    const books = (this.#books = new PostgresBooks(this.#connections, this.#listener))
    this.keys = new LedgerKeyBook(books)
    this.invites = new LedgerInviteBook(books)
    this.signIns = new LedgerSignInBook(books)
    this.requests = new LedgerRequestBook(books)
    this.blobs = new PostgresBlobs(schema, (work) => this.#connections.repeat(work))
    this.book = new PostgresHubBook(this.#connections)
  }

  /** Begins to follow the changes of other hubs, and reads the time of the database. */
  async open(): Promise<void> {
    await this.#listener.open()
    await this.look(async () => {})
  }

  audit(bounds?: AuditBounds): HubAuditBook {
    return new PostgresAuditBook(this.#connections, this.#books, this.clock, bounds)
  }

  async round<T, E = undefined>(
    work: (round: LedgerRound, early: E) => Promise<T>,
    early?: (round: LedgerRound) => Promise<E>,
  ): Promise<T> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#tryRound(work, early)
      } catch (error) {
        const most = isConflict(error) || isDouble(error) ? mostTries : mayRepeat(error) ? mostLosses : 0
        if (tries >= most) throw this.#failure(error)
        // Rounds that were in each other's way must not collide again.
        await this.#clock.sleep(Math.random() * Math.min(200, 2 ** tries))
      }
  }

  async look<T>(work: (look: LedgerLook) => Promise<T>): Promise<T> {
    const { schema } = this.address
    return this.#read(async (session) => {
      const begun = session.run(this.#sql.snapshot)
      begun.catch(() => {})
      const head = (await session.rows<Head>(this.#sql.head))[0]!
      this.clock.learn(head.now)
      const value = await work(new PostgresReads(session, { sql: this.#sql, schema, locks: false }).begin(head))
      await session.run('COMMIT')
      return value
    })
  }

  async untilDue(): Promise<number | undefined> {
    const rows = await this.#read((session) => session.rows<{ ms: number | null }>(this.#sql.untilDue))
    const ms = rows[0]?.ms ?? undefined
    return ms === undefined ? undefined : Math.max(0, ms)
  }

  async bytes(): Promise<number> {
    const rows = await this.#read((session) => session.rows<{ bytes: number }>(this.#sql.bytes))
    return rows[0]!.bytes
  }

  async since(seq: number, most: number, epoch?: string): Promise<HubChange[] | undefined> {
    return this.#read(async (session) => {
      type Row = { last: string; epoch: string; seq: string | null; change: string | null }
      const rows = await session.rows<Row>(this.#sql.since, [seq, most])
      const { last, epoch: ledger } = rows[0]!
      if (seq > Number(last) || (epoch !== undefined && epoch !== epochOf(ledger, session))) return undefined
      const changes = rows.flatMap((row): HubChange[] =>
        row.seq === null ? [] : [{ seq: Number(row.seq), ...(JSON.parse(row.change!) as NewChange) }],
      )
      // Numbers have no gaps, so a follower that is too far behind lacks the very next change.
      return seq < Number(last) && most > 0 && changes[0]?.seq !== seq + 1 ? undefined : changes
    })
  }

  listen(told: (news: LedgerNews) => void): () => void {
    return this.#listener.listen(told)
  }

  async prunable(keptMs: number): Promise<Prunable> {
    return this.#read(async (session) => {
      await session.run(this.#sql.snapshot)
      await session.run(`SET LOCAL statement_timeout = ${countMs}`)
      const [head] = await session.rows<Head>(this.#sql.head)
      const counted = async <R>(statement: Statement) =>
        (await session.run(statement, [head!.now - keptMs], countMs)).rows as R[]
      type Rest = { pipelines: number; notes: number; note_bytes: number; texts: number; text_bytes: number }
      type Tasks = { state: TaskState; count: number; bytes: number }
      const tasks = await counted<Tasks>(this.#sql.prunableTasks)
      const rest = (await counted<Rest>(this.#sql.prunableRest))[0]!
      await session.run('COMMIT')
      return {
        tasks: tasks.map(({ state, count }) => ({ state, count })),
        pipelines: rest.pipelines,
        notes: rest.notes,
        texts: rest.texts,
        bytes: tasks.reduce((sum, { bytes }) => sum + bytes, rest.note_bytes + rest.text_bytes),
      }
    })
  }

  sweep(): Promise<void> {
    return this.blobs.sweep()
  }

  async close(): Promise<void> {
    await this.#sweeping
    await this.#listener.close()
    await this.#connections.close()
  }

  async #tryRound<T, E>(
    work: (round: LedgerRound, early: E) => Promise<T>,
    early?: (round: LedgerRound) => Promise<E>,
  ): Promise<T> {
    const id = randomBytes(8).readBigInt64BE().toString()
    const session = await this.#connections.take()
    let round: PostgresRound | undefined
    try {
      // All statements are sent at once; if one fails, all later ones fail too.
      const begun = session.run(this.#sql.begin)
      begun.catch(() => {})
      const head = session.rows<Head>(this.#sql.roundHead, [id])
      round = new PostgresRound(session, {
        sql: this.#sql,
        schema: this.address.schema,
        id,
        channel: this.#listener.channel,
        hub: this.#hub,
        find: (lost) => this.#find(lost),
      })
      const read = early?.(round)
      read?.catch(() => {})
      const begins = (await head)[0]!
      this.clock.learn(begins.now)
      round.begin(begins)
      const value = await work(round, (await read) as E)
      await round.over()
      return value
    } catch (error) {
      // Statements after a failed one fail only because of it, so the first failure is the one to report.
      if (sqlState(error) !== undefined) await round?.answers()
      throw error
    } finally {
      if (!round?.end && !session.isLost) await session.run('ROLLBACK').catch(() => session.drop())
      this.#connections.giveBack(session)
      if (round?.end?.changed) this.#publish(round.end)
    }
  }

  /**
   * Looks for a round whose commit was not answered. The lock that the round took is released when its transaction is over, whatever its
   * outcome, so the answer is final.
   */
  async #find(id: string): Promise<number | undefined> {
    for (const end = this.#clock.elapsed() + lookForMs; ;)
      try {
        return await this.#connections.use(async (session) => {
          await session.run(this.#sql.begin)
          await session.run(this.#sql.waitForRound, [id])
          const [row] = await session.rows<{ first: string | null }>(this.#sql.found, [id])
          await session.run('COMMIT')
          return row?.first == null ? undefined : Number(row.first)
        })
      } catch (error) {
        if (!isAway(error) && !isConflict(error)) throw error
        if (this.#clock.elapsed() > end)
          throw new LedgerAway(
            'the connection was lost while a change was written, and it is not known yet whether it was',
            { isUnsure: true },
          )
        await this.#clock.sleep(250)
      }
  }

  #publish({ last, claimable }: RoundEnd): void {
    this.#listener.tell({ seq: last, claimable })
    if (last < this.#sweepAt) return
    const first = this.#sweepAt === 0
    this.#sweepAt = last + sweepEvery
    if (first || this.#sweeping) return
    this.#sweeping = this.#connections
      .use((session) => session.run(this.#sql.sweepChanges, [last - this.#mostChanges]))
      .then(
        () => {},
        // If old changes cannot be deleted now, they are deleted next time.
        () => {},
      )
      .finally(() => (this.#sweeping = undefined))
  }

  /** Reads, and repeats the read if the server had closed the session, which is only noticed when the session is used. */
  async #read<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#connections.use(work)
      } catch (error) {
        if (tries >= mostLosses || !mayRepeat(error)) throw this.#failure(error)
      }
  }

  /** Turns errors of the database into errors with a message for people; errors of the work itself stay as they are. */
  #failure(error: unknown): unknown {
    const isDatabases = sqlState(error) !== undefined || isConflict(error) || isAway(error)
    return isDatabases ? ledgerFailure(error, this.address.shown) : error
  }
}
