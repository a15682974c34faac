import type { BookDatabase, BookWork } from '../ledger-books.ts'
import type { Connections, Session } from './connections.ts'
import type { Listener } from './listener.ts'
import { stored } from '../tables.ts'
import { isConflict, ledgerFailure } from './failures.ts'
import { numbered } from './statements.ts'

/** How often a change is repeated because others were in the way. */
const mostTries = 5

/**
 * The books of a ledger in PostgreSQL. Cached rows are used until the database announces a change or becomes unreachable, so a request
 * needs no query. A key revoked here stops working at once, and a key revoked at another hub within a second.
 */
export class PostgresBooks implements BookDatabase {
  readonly kind = 'postgres'
  #connections: Connections
  #listener: Listener

  constructor(connections: Connections, listener: Listener) {
    this.#connections = connections
    this.#listener = listener
  }

  table(name: string): string {
    return `${this.#connections.address.schema}.${name}`
  }

  read<T>(work: () => BookWork<T>): Promise<T> {
    return this.write(work)
  }

  write<T>(work: () => BookWork<T>): Promise<T> {
    return this.#connections.repeat((session) => run(session, work()))
  }

  async change<T>(work: () => BookWork<T>): Promise<T> {
    const { schema, shown } = this.#connections.address
    for (let tries = 1; ; tries++)
      try {
        return await this.#connections.use(async (session) => {
          await session.run('BEGIN')
          await session.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`termaite books ${schema}`])
          const done = await run(session, work())
          if (done !== false) await session.run(`SELECT pg_notify($1, '')`, [this.#listener.bookChannel])
          await session.run(done === false ? 'ROLLBACK' : 'COMMIT')
          return done
        })
      } catch (error) {
        if (!isConflict(error) || tries === mostTries) throw ledgerFailure(error, shown)
      } finally {
        this.#listener.generation++
      }
  }

  cached<T>(load: () => BookWork<T>): () => Promise<T> {
    const listener = this.#listener
    let kept: { generation: number; rows: T } | undefined
    let loading: { generation: number; rows: Promise<T> } | undefined
    return async () => {
      const { generation, isFresh } = listener
      if (isFresh && kept?.generation === generation) return kept.rows
      if (isFresh && loading?.generation === generation) return loading.rows
      const rows = this.read(load)
      loading = { generation, rows }
      try {
        kept = { generation, rows: await rows }
      } finally {
        if (loading?.rows === rows) loading = undefined
      }
      return rows
    }
  }
}

async function run<T>(session: Session, work: BookWork<T>): Promise<T> {
  let step = work.next()
  while (!step.done) {
    const { text, values } = step.value
    const { rows, rowCount } = await session.run(numbered('book', text), values.map(stored))
    step = work.next({ rows, changed: rowCount ?? 0 })
  }
  return step.value
}
