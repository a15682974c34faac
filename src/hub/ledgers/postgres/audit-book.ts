import type { AuditBounds, AuditQuery, HubAct, HubAuditBook, KeptAct } from '../../model/access/hub-audit.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Connections } from './connections.ts'
import { defined } from '../../../base/defined.ts'
import { auditBounds } from '../../model/access/hub-audit.ts'
import { withoutNul } from '../tables.ts'

/** Old acts are deleted each time this many new ones were kept. */
const sweepEvery = 1_000
const dayMs = 86_400_000

type Row = Omit<KeptAct, 'on' | 'address' | 'number'> & {
  number: string
  subject: string | null
  address: string | null
}

/** The acts at all hubs of a ledger, in PostgreSQL. */
export class PostgresAuditBook implements HubAuditBook {
  #connections: Connections
  #s: string
  #clock: Clock
  #bounds: AuditBounds
  #added = 0

  constructor(connections: Connections, clock: Clock, bounds: AuditBounds = auditBounds) {
    this.#clock = clock
    this.#connections = connections
    this.#s = connections.address.schema
    this.#bounds = bounds
  }

  async add(acts: readonly HubAct[]): Promise<void> {
    if (acts.length === 0) return
    const list = <T>(pick: (act: HubAct) => T) => acts.map(pick)
    const text = (pick: (act: HubAct) => string | undefined) =>
      list((act) => {
        const value = pick(act)
        return value === undefined ? null : withoutNul(value)
      })
    // Hubs write one after another, so that a reader who continues from a number misses nothing. Acts are never sent twice: if the answer
    // is lost, the caller gets the error. The thousands of acts of agents do not wait for the disk of the database: a killed hub loses
    // none of them, a database that loses its power those of the last moment.
    await this.#connections.repeat(
      (session) =>
        session.run(
          `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtextextended('termaite acts ${this.#s}', 0)),
              CASE WHEN $10 THEN set_config('synchronous_commit', 'off', true) END)
            INSERT INTO ${this.#s}.acts (at, by, key, role, address, act, subject, outcome, status)
            SELECT a.* FROM turn, unnest($1::float8[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
              $8::text[], $9::int[]) AS a`,
          [
            list(({ at }) => at),
            text(({ by }) => by),
            text(({ key }) => key),
            list(({ role }) => role),
            text(({ address }) => address),
            text(({ act }) => act),
            text(({ on }) => on),
            list(({ outcome }) => outcome),
            list(({ status }) => status),
            acts.every(({ role }) => role === 'agent'),
          ],
        ),
      1,
    )
    if ((this.#added += acts.length) >= sweepEvery) await this.#sweep()
  }

  async page({ since = 0, by, after = 0, most }: AuditQuery): Promise<KeptAct[]> {
    const rows = await this.#connections.repeat((session) =>
      session.rows<Row>(
        `SELECT number, at, by, key, role, address, act, subject, outcome, status FROM ${this.#s}.acts
          WHERE number > $1 AND at >= $2 AND ($3::text IS NULL OR by = $3) ORDER BY number LIMIT $4`,
        [after, since, by === undefined ? null : withoutNul(by), most],
      ),
    )
    return rows.map(({ number, subject, address, ...row }) =>
      defined({ ...row, number: Number(number), address: address ?? undefined, on: subject ?? undefined }),
    )
  }

  /** The ledger owns the connections and closes them. */
  async close(): Promise<void> {}

  async #sweep(): Promise<void> {
    this.#added = 0
    const { days, most } = this.#bounds
    await this.#connections.repeat((session) =>
      session.run(
        `DELETE FROM ${this.#s}.acts WHERE at < $1 OR number <= (SELECT max(number) FROM ${this.#s}.acts) - $2`,
        [this.#clock.now() - days * dayMs, most],
      ),
    )
  }
}
