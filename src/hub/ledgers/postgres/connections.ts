import type { Socket } from 'node:net'
import type { Client, QueryConfig, QueryResult } from 'pg'
import type { Clock } from '../../../base/time/clock.ts'
import type { PostgresAddress } from './address.ts'
import { within } from '../../../base/time/clock.ts'
import { messageOf } from '../../../base/error-message.ts'
import { LedgerAway } from '../../model/ledger-away.ts'
import { ConnectionLost, isAway, ledgerFailure, mayRepeat, sqlState } from './failures.ts'

/** A statement that each connection prepares once, under its name. */
export type Statement = { name: string; text: string }

/** If a hub hangs in the middle of a round, its rows stay locked for this long at most. */
const idleInRoundMs = 5_000
/** How long a round waits for a row that another round has locked; it is longer than PostgreSQL takes to notice a deadlock. */
const lockMs = 3_000
const statementMs = 10_000
/** An answer that is overdue by this much more than the database's own limit will never come: the connection is dead. */
const answerMs = statementMs + 5_000
/** How often the session looks for overdue answers. */
const watchMs = 1_000

/** The settings of every session. Settings that a server does not have are left out. */
const settings: Readonly<Record<string, string>> = {
  // With the just-in-time compiler the same work took ten times as long.
  jit: 'off',
  idle_in_transaction_session_timeout: `${idleInRoundMs}`,
  lock_timeout: `${lockMs}`,
  statement_timeout: `${statementMs}`,
  // The server notices within seconds that a hub's machine is gone, and unlocks its rows.
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '3',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '15000',
  client_connection_check_interval: '3000',
  client_min_messages: 'warning',
}

/** The error code of all statements in a transaction after one that failed. */
const refusedAfter = '25P02'

/** One session with the database. Statements that are issued without waiting are sent together and answered in order. */
export class Session {
  /** Identifies this incarnation of the database; it changes after a failover and after a restore by other tools. */
  readonly origin: string
  #client: Client
  #clock: Clock
  #lost: Error | undefined
  /** Why the transaction failed: after that the server refuses every further statement. */
  #cause: unknown
  /** The deadlines of the unanswered statements, by `Clock.elapsed`. */
  #pending = new Set<{ until: number }>()
  /** How long an answer may take. */
  #mostMs: number
  #watched = false
  #isCorked = false

  constructor(client: Client, clock: Clock, origin: string, mostMs: number) {
    this.#client = client
    this.#mostMs = mostMs
    this.#clock = clock
    this.origin = origin
    client.on('error', (error: Error) => (this.#lost ??= error))
    client.on('end', () => (this.#lost ??= new ConnectionLost('the connection ended')))
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  /** Runs a statement; rejects if no answer comes, and then the session cannot be used any more. */
  async run(statement: Statement | string, values: unknown[] = [], mostMs = this.#mostMs): Promise<QueryResult> {
    if (this.#lost) throw new ConnectionLost(this.#lost.message)
    const config: QueryConfig = typeof statement === 'string' ? { text: statement, values } : { ...statement, values }
    const pending = { until: this.#clock.elapsed() + mostMs }
    this.#pending.add(pending)
    void this.#watch()
    this.#cork()
    try {
      const answer = await this.#client.query(config)
      this.#cause = undefined
      return answer
    } catch (error) {
      if (sqlState(error) !== refusedAfter) this.#cause = error
      const cause = this.#cause ?? error
      throw this.isLost && sqlState(cause) === undefined ? new ConnectionLost(messageOf(cause)) : cause
    } finally {
      this.#pending.delete(pending)
    }
  }

  /** Buffers output until the current turn of the event loop ends, so that all its statements become one write to the server. */
  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const stream = this.#stream
    stream.cork()
    process.nextTick(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  /** The socket of the session, which the library's types do not expose. */
  get #stream(): Socket {
    return (this.#client as unknown as { connection: { stream: Socket } }).connection.stream
  }

  /** Drops the session when an answer is overdue. One timer watches all statements, because most of them take only a millisecond. */
  async #watch(): Promise<void> {
    if (this.#watched) return
    this.#watched = true
    while (this.#pending.size > 0 && !this.#lost) {
      await this.#clock.sleep(watchMs)
      const now = this.#clock.elapsed()
      if ([...this.#pending].some(({ until }) => until < now)) {
        this.#lost ??= new ConnectionLost('the database gave no answer')
        this.drop()
      }
    }
    this.#watched = false
  }

  async rows<R>(statement: Statement | string, values: unknown[] = []): Promise<R[]> {
    return (await this.run(statement, values)).rows as R[]
  }

  onNotice(heard: (channel: string, payload: string) => void): void {
    this.#client.on('notification', ({ channel, payload = '' }) => heard(channel, payload))
  }

  /** Closes the session at once. Its transaction is rolled back, unless its commit was sent already. */
  drop(): void {
    this.#lost ??= new ConnectionLost('the connection was dropped')
    this.#stream.destroy()
  }

  async end(): Promise<void> {
    await within(this.#clock, this.#client.end(), 2_000)
  }
}

/** The fields of a session's first answer. */
type Greeting = { encoding: string; version: string; copy: boolean; sync: string; origin: string }

/** Opens a session and checks that it is usable; `mostMs` is how long each of its answers may take. */
export async function openSession(
  address: PostgresAddress,
  clock: Clock,
  what = 'hub',
  mostMs = answerMs,
): Promise<Session> {
  const { default: pg } = await import('pg')
  const { host, port, user, database, tls, connectMs } = address
  const client = new pg.Client({
    host,
    port,
    user,
    database,
    ssl: tls,
    // The password is only sent if the server asks for it while the connection is being made.
    password: () => address.password() as string,
    application_name: `termaite ${what}`,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Statements that are issued without waiting are sent at once.
    pipeline: true,
  })
  // An unhandled `error` event would crash the process.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query({ text: greeting, values: [Object.keys(settings), Object.values(settings)] })
    const { encoding, version, copy, sync, origin } = rows[0] as Greeting
    if (encoding !== 'UTF8')
      throw Object.assign(
        new Error(
          `the database has the encoding ${encoding}, and a ledger needs UTF8; make one with: createdb --encoding=UTF8 --template=template0 <name>`,
        ),
      )
    if (Number(version) < 130_000)
      throw new Error(
        `the ledger needs PostgreSQL 13 or newer, and the server is ${Math.floor(Number(version) / 10_000)}`,
      )
    if (copy) throw Object.assign(new Error('the database is a copy'), { code: '25006', severity: 'ERROR' })
    // An answered change has to survive a crash, whatever the settings of the role say.
    if (sync === 'off') await client.query("SELECT set_config('synchronous_commit', 'on', false)")
    return new Session(client, clock, origin, mostMs)
  } catch (error) {
    await within(
      clock,
      client.end().catch(() => {}),
      1_000,
    )
    throw error
  }
}

/**
 * The timeline in the name of the current WAL file changes with a failover and with a restore of a physical backup; the system identifier
 * and the number of the database change with a restore of a logical one. All of them can be read with ordinary rights; services that hide
 * one of them return an empty text.
 */
const greeting = `
  SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num') AS version,
    pg_is_in_recovery() AS copy, current_setting('synchronous_commit') AS sync,
    CASE WHEN pg_is_in_recovery() THEN '' ELSE concat_ws('.',
      (SELECT system_identifier::text FROM pg_control_system() WHERE has_function_privilege('pg_control_system()', 'EXECUTE')),
      (SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)),
      (SELECT oid::text FROM pg_database WHERE datname = current_database())) END AS origin,
    (SELECT count(set_config(s.name, w.value, false))
      FROM unnest($1::text[], $2::text[]) AS w(name, value) JOIN pg_settings s ON lower(s.name) = lower(w.name)) AS set`

/** How long a call waits for a connection before it reports that the ledger is unavailable. */
const patienceMs = 4_000
/** The pause between two attempts to connect. */
const retryMs = 250

type Waiting = { resolve(session: Session): void; reject(error: unknown): void }

/** A few sessions that all calls share. A session is opened when it is needed, and reopened after it was lost. */
export class Connections {
  readonly address: PostgresAddress
  #clock: Clock
  #most: number
  #idle: Session[] = []
  #open = 0
  #waiting: Waiting[] = []
  #closed = false
  /** Since when no session could be opened, by `Clock.elapsed`, and the last error. */
  #away: { since: number; why: unknown } | undefined
  #attempt: Promise<void> | undefined

  constructor(address: PostgresAddress, clock: Clock, most: number) {
    this.address = address
    this.#clock = clock
    this.#most = most
  }

  /** Runs work on a session of its own. Afterwards the session returns to the pool, unless the work has marked it as unusable. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.take()
    try {
      const result = await work(session)
      this.giveBack(session)
      return result
    } catch (error) {
      session.drop()
      this.giveBack(session)
      throw error
    }
  }

  /**
   * Runs work that may be repeated, up to `most` times, if the connection was lost or another hub was in the way. The last error is
   * turned into one with a message for people.
   */
  async repeat<T>(work: (session: Session) => Promise<T>, most = 5): Promise<T> {
    for (let tries = 1; ; tries++)
      try {
        return await this.use(work)
      } catch (error) {
        if (tries >= most || !mayRepeat(error)) throw ledgerFailure(error, this.address.shown)
      }
  }

  /** A session for one caller, until `giveBack`. Rejects with `LedgerAway` if no session is free in time. */
  async take(): Promise<Session> {
    if (this.#closed) throw new LedgerAway('the hub ends')
    for (let session = this.#idle.pop(); session; session = this.#idle.pop()) {
      if (!session.isLost) return session
      this.#open--
    }
    // While the database is known to be unavailable, callers get the error at once instead of waiting one after another.
    if (this.#away && this.#clock.elapsed() - this.#away.since > patienceMs) {
      this.#retry()
      throw ledgerFailure(this.#away.why, this.address.shown)
    }
    const asked = new Promise<Session>((resolve, reject) => this.#waiting.push({ resolve, reject }))
    this.#fill()
    return asked
  }

  giveBack(session: Session): void {
    if (session.isLost || this.#closed) {
      this.#open--
      if (!session.isLost) void session.end()
      this.#fill()
      return
    }
    const next = this.#waiting.shift()
    if (next) next.resolve(session)
    else this.#idle.push(session)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { reject } of this.#waiting.splice(0)) reject(new LedgerAway('the hub ends'))
    await Promise.all(this.#idle.splice(0).map((session) => session.end()))
  }

  /** Opens sessions for the callers that wait. */
  #fill(): void {
    if (this.#closed) return
    if (this.#away) return this.#retry()
    const wanted = Math.min(this.#waiting.length, this.#most - this.#open)
    for (let made = 0; made < wanted; made++) void this.#openOne()
  }

  async #openOne(): Promise<boolean> {
    this.#open++
    try {
      const session = await openSession(this.address, this.#clock)
      this.#away = undefined
      this.giveBack(session)
      return true
    } catch (error) {
      this.#open--
      if (isAway(error)) {
        this.#away ??= { since: this.#clock.elapsed(), why: error }
        this.#away.why = error
        this.#retry()
      } else {
        this.#away = undefined
        const failure = ledgerFailure(error, this.address.shown)
        for (const { reject } of this.#waiting.splice(0)) reject(failure)
      }
      return false
    }
  }

  /** Tries to connect until it succeeds, as long as a caller waits; callers that have waited too long get an error. */
  #retry(): void {
    this.#attempt ??= (async () => {
      do {
        await this.#clock.sleep(retryMs)
        const away = this.#away
        if (away && this.#clock.elapsed() - away.since > patienceMs) {
          const failure = ledgerFailure(away.why, this.address.shown)
          for (const { reject } of this.#waiting.splice(0)) reject(failure)
        }
      } while (!this.#closed && !(await this.#openOne()) && this.#waiting.length > 0)
    })().finally(() => {
      this.#attempt = undefined
      if (!this.#away && this.#waiting.length > 0) this.#fill()
    })
  }
}
