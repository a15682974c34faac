import type { Connections, Session } from './connections.ts'
import type { Listener } from './listener.ts'
import { isConflict, ledgerFailure } from './failures.ts'

/** How often a call is repeated because others were in its way, or the connection was lost. */
const mostTries = 5

/**
 * Rows that every request needs, such as keys. They are read as a whole and used until the database reports a change or becomes
 * unreachable: a request costs no query, a key that was revoked here stops working at once, and one that another hub has revoked within a
 * second.
 */
export class BookRows<T> {
  #connections: Connections
  #listener: Listener
  #load: (session: Session) => Promise<T>
  #kept: { generation: number; rows: T } | undefined
  #loading: { generation: number; rows: Promise<T> } | undefined

  constructor(connections: Connections, listener: Listener, load: (session: Session) => Promise<T>) {
    this.#connections = connections
    this.#listener = listener
    this.#load = load
  }

  async rows(): Promise<T> {
    const { generation, isFresh } = this.#listener
    if (isFresh && this.#kept?.generation === generation) return this.#kept.rows
    if (this.#loading?.generation === generation && isFresh) return this.#loading.rows
    const rows = this.#read()
    this.#loading = { generation, rows }
    try {
      this.#kept = { generation, rows: await rows }
    } finally {
      if (this.#loading?.rows === rows) this.#loading = undefined
    }
    return rows
  }

  /** Reads the current rows from the database. */
  fresh(): Promise<T> {
    return this.#read()
  }

  /**
   * Changes rows in one transaction, one change of any hub after another, and notifies every hub. Nothing has happened if the work returns
   * false or throws.
   */
  async change(work: (session: Session) => Promise<boolean>): Promise<boolean> {
    const { schema, shown } = this.#connections.address
    for (let tries = 1; ; tries++)
      try {
        return await this.#connections.use(async (session) => {
          await session.run('BEGIN')
          await session.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`termaite books ${schema}`])
          const done = await work(session)
          if (done) await session.run(`SELECT pg_notify($1, '')`, [this.#listener.bookChannel])
          await session.run(done ? 'COMMIT' : 'ROLLBACK')
          return done
        })
      } catch (error) {
        if (!isConflict(error) || tries === mostTries) throw ledgerFailure(error, shown)
      } finally {
        this.#listener.generation++
      }
  }

  /** Writes a fact that makes no cached row outdated, such as when a key was last used. */
  async note(text: string, values: unknown[]): Promise<void> {
    await this.#connections.repeat((session) => session.run(text, values))
  }

  #read(): Promise<T> {
    return this.#connections.repeat(this.#load)
  }
}
