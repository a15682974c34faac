import type { Clock } from '../../base/time/clock.ts'
import type { AuditBounds, AuditQuery, HubAct, HubAuditBook, KeptAct } from '../model/access/hub-audit.ts'
import type { BookDatabase } from './ledger-books.ts'
import { auditBounds } from '../model/access/hub-audit.ts'
import { BookTable } from './ledger-books.ts'
import { actTable } from './ledger-tables.ts'

/** Old acts are deleted each time this many new ones were added. */
const sweepEvery = 1_000
const dayMs = 86_400_000

/** The acts at the hubs of a database. */
export class LedgerAuditBook implements HubAuditBook {
  #database: BookDatabase
  #acts: BookTable<HubAct & { number?: number }>
  #clock: Clock
  #bounds: AuditBounds
  #added = 0

  constructor(database: BookDatabase, clock: Clock, bounds: AuditBounds = auditBounds) {
    this.#database = database
    this.#acts = new BookTable(database, actTable)
    this.#clock = clock
    this.#bounds = bounds
  }

  async add(acts: readonly HubAct[]): Promise<void> {
    if (acts.length === 0) return
    await this.insert(acts)
    if ((this.#added += acts.length) < sweepEvery) return
    this.#added = 0
    const { days, most } = this.#bounds
    const last = `(SELECT max(number) FROM ${this.#database.table(actTable.name)})`
    const before = this.#clock.now() - days * dayMs
    await this.#database.write(() => this.#acts.remove(`at < ? OR number <= ${last} - ?`, before, most))
  }

  async page({ since = 0, by, after = 0, most }: AuditQuery): Promise<KeptAct[]> {
    const which = `WHERE number > ? AND at >= ?${by === undefined ? '' : ' AND by = ?'} ORDER BY number LIMIT ?`
    const values = [after, since, ...(by === undefined ? [] : [by]), most]
    return (await this.#database.read(() => this.#acts.find(which, ...values))) as KeptAct[]
  }

  async close(): Promise<void> {}

  /** Inserts all of the acts or none of them. */
  protected async insert(acts: readonly HubAct[]): Promise<void> {
    const stored = this.#acts
    await this.#database.write(function* () {
      for (const act of acts) yield* stored.insert(act)
    })
  }
}
