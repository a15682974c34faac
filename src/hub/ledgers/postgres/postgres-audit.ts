import type { AuditBounds, HubAct } from '../../model/access/hub-audit.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Connections } from './connections.ts'
import type { PostgresBooks } from './postgres-books.ts'
import { LedgerAuditBook } from '../audit-book.ts'
import { actTable } from '../ledger-tables.ts'
import { insertListsText, listsIn } from '../tables.ts'

/** The acts at all hubs of a ledger, in PostgreSQL. The ledger owns the connections and closes them. */
export class PostgresAuditBook extends LedgerAuditBook {
  #connections: Connections

  constructor(connections: Connections, books: PostgresBooks, clock: Clock, bounds?: AuditBounds) {
    super(books, clock, bounds)
    this.#connections = connections
  }

  protected override async insert(acts: readonly HubAct[]): Promise<void> {
    const { schema } = this.#connections.address
    // The thousands of acts of agents do not wait for the disk of the database: if a hub is killed, none of them is lost; if the database
    // loses power, only those of the last moment are.
    const isQuick = acts.every(({ role }) => role === 'agent')
    // Hubs write one after another, so that a reader who continues after a number misses nothing.
    const turn = `SELECT pg_advisory_xact_lock(hashtextextended('termaite acts ${schema}', 0))${
      isQuick ? `, set_config('synchronous_commit', 'off', true)` : ''
    }`
    const text = `WITH turn AS MATERIALIZED (${turn}) ${insertListsText(actTable, schema)}, turn`
    // Acts are never written twice: if the answer is lost, the caller gets the error.
    await this.#connections.repeat((session) => session.run(text, listsIn(actTable, acts)), 1)
  }
}
