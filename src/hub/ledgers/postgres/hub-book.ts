import type { BookedMachine, Bound, HubBook, LinkedMachine, MachineClaim } from '../../model/hub-book.ts'
import type { Connections, Session } from './connections.ts'
import { randomBytes } from 'node:crypto'
import { defined } from '../../../base/defined.ts'
import { forgottenMs, leaseMs } from '../../model/hub-book.ts'
import { withoutNul } from '../tables.ts'
import { databaseNow } from './statements.ts'

/** A machine's description of itself, which is kept as JSON. */
type About = Pick<LinkedMachine, 'version' | 'offers' | 'works' | 'runsHub'>

type Row = {
  machine: string
  link: number
  since: number
  seen: number
  about: string
  hub: string | null
  url: string | null
}

/** The address book that the hubs of one ledger share. All its times are the database's; `now` is the SQL for the current time. */
export class PostgresHubBook implements HubBook {
  #connections: Connections
  #s: string
  #now: string
  #secret: Promise<Uint8Array> | undefined

  constructor(connections: Connections, now = databaseNow) {
    this.#connections = connections
    this.#now = now
    this.#s = connections.address.schema
  }

  async bind({ machine, key, keyName, proof }: MachineClaim): Promise<Bound> {
    const s = this.#s
    const about: About = { version: '', offers: [], works: [] }
    const values = [withoutNul(machine), key, withoutNul(keyName), proof, JSON.stringify(about)]
    return this.#connections.repeat(async (session) => {
      const [bound] = await session.rows<{ link: number }>(
        `INSERT INTO ${s}.machines AS m (machine, key, key_name, proof, link, since, seen, about)
          VALUES ($1, $2, $3, $4, 1, ${this.#now}, ${this.#now}, $5)
          ON CONFLICT (machine) DO UPDATE SET key = excluded.key, key_name = excluded.key_name, proof = excluded.proof,
            link = m.link + 1, since = excluded.since, seen = excluded.seen, about = excluded.about, hub = NULL
          WHERE m.key = excluded.key OR m.proof = excluded.proof OR ${this.#isForgotten()}
          RETURNING m.link`,
        values,
      )
      if (bound) return { link: bound.link }
      const [row] = await session.rows<{ key_name: string; seen: number }>(
        `SELECT key_name, seen FROM ${s}.machines WHERE machine = $1`,
        [withoutNul(machine)],
      )
      return { taken: { keyName: row?.key_name ?? '', seen: row?.seen ?? 0 } }
    })
  }

  async announce({ id, url, machines }: Parameters<HubBook['announce']>[0]): Promise<{ gone: string[] }> {
    const s = this.#s
    // All hubs lock rows in the same order, so that no two of them wait for each other.
    const linked = machines.toSorted((a, b) => (a.machine < b.machine ? -1 : 1))
    const names = linked.map(({ machine }) => withoutNul(machine))
    const here = await this.#connections.repeat((session) =>
      inTransaction(session, async () => {
        await session.run(
          `INSERT INTO ${s}.hub_nodes (id, url, until) VALUES ($1, $2, ${this.#now} + ${leaseMs})
            ON CONFLICT (id) DO UPDATE SET url = excluded.url, until = excluded.until`,
          [id, url ?? null],
        )
        await session.run(`DELETE FROM ${s}.hub_nodes WHERE until < ${this.#now} - 86400000`)
        const rows = await session.rows<{ machine: string }>(
          `WITH said AS (SELECT * FROM unnest($2::text[], $3::int[], $4::float8[], $5::text[]) AS u(machine, link, since, about)),
            held AS (SELECT m.machine FROM ${s}.machines m WHERE m.machine = ANY($2::text[]) OR m.hub = $1
              ORDER BY m.machine FOR UPDATE),
            away AS (UPDATE ${s}.machines m SET hub = NULL FROM held
              WHERE m.machine = held.machine AND m.hub = $1 AND NOT m.machine = ANY($2::text[]))
            UPDATE ${s}.machines m SET hub = $1, seen = ${this.#now}, since = said.since, about = said.about
              FROM said JOIN held USING (machine) WHERE m.machine = said.machine AND m.link = said.link RETURNING m.machine`,
          [
            id,
            names,
            linked.map(({ link }) => link),
            linked.map(({ since }) => since),
            linked.map(({ version, offers, works, runsHub }) =>
              JSON.stringify(defined({ version, offers, works, runsHub }) satisfies About),
            ),
          ],
        )
        return new Set(rows.map(({ machine }) => machine))
      }),
    )
    return { gone: machines.map(({ machine }) => machine).filter((machine) => !here.has(withoutNul(machine))) }
  }

  async withdraw(id: string): Promise<void> {
    await this.#connections.repeat((session) => session.run(`DELETE FROM ${this.#s}.hub_nodes WHERE id = $1`, [id]))
  }

  async find(machine: string): Promise<BookedMachine | undefined> {
    const rows = await this.#connections.repeat((session) =>
      session.rows<Row>(`${this.#booked()} AND m.machine = $1`, [withoutNul(machine)]),
    )
    return rows.map(bookedOf)[0]
  }

  async machines(): Promise<BookedMachine[]> {
    const rows = await this.#connections.repeat((session) => session.rows<Row>(`${this.#booked()} ORDER BY m.machine`))
    return rows.map(bookedOf)
  }

  async forget(machine: string): Promise<boolean> {
    const s = this.#s
    const { rowCount } = await this.#connections.repeat((session) =>
      session.run(`DELETE FROM ${s}.machines m WHERE m.machine = $1 AND NOT ${this.#isLinked()}`, [
        withoutNul(machine),
      ]),
    )
    return rowCount === 1
  }

  secret(): Promise<Uint8Array> {
    this.#secret ??= this.#connections
      .repeat(async (session) => {
        const made = randomBytes(32)
        // The first hub makes the secret, which is written only once.
        await session.run(`UPDATE ${this.#s}.ledger SET secret = $1 WHERE secret IS NULL`, [made])
        const [row] = await session.rows<{ secret: Buffer }>(`SELECT secret FROM ${this.#s}.ledger`)
        return new Uint8Array(row!.secret)
      })
      .catch((error: unknown) => {
        this.#secret = undefined
        throw error
      })
    return this.#secret
  }

  #isLinked(): string {
    return `EXISTS (SELECT 1 FROM ${this.#s}.hub_nodes h WHERE h.id = m.hub AND h.until > ${this.#now})`
  }

  /** The SQL condition for a machine that has not been seen for so long that another one may take its name. */
  #isForgotten(): string {
    return `(${this.#now} - m.seen > ${forgottenMs} AND NOT ${this.#isLinked()})`
  }

  #booked(): string {
    const s = this.#s
    return `SELECT m.machine, m.link, m.since, m.seen, m.about, n.id AS hub, n.url FROM ${s}.machines m
      LEFT JOIN ${s}.hub_nodes n ON n.id = m.hub AND n.until > ${this.#now} WHERE NOT ${this.#isForgotten()}`
  }
}

function bookedOf({ machine, link, since, seen, about, hub, url }: Row): BookedMachine {
  const at = hub === null ? undefined : defined({ id: hub, url: url ?? undefined })
  return defined({ machine, since, link, ...(JSON.parse(about) as About), seen, hub: at })
}

async function inTransaction<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.run('BEGIN')
  const result = await work()
  await session.run('COMMIT')
  return result
}
