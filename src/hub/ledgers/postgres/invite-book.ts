import type { HubInvite, HubInviteBook } from '../../model/access/hub-invite.ts'
import type { InviteRow } from '../book-entries.ts'
import type { Connections, Session } from './connections.ts'
import { inviteOf } from '../book-entries.ts'
import { ledgerFailure } from './failures.ts'
import { column } from './rows.ts'

/** The hub's invitations in PostgreSQL. They are needed rarely, so every call reads the database. */
export class PostgresInviteBook implements HubInviteBook {
  #connections: Connections
  #table: string

  constructor(connections: Connections) {
    this.#connections = connections
    this.#table = `${connections.address.schema}.invites`
  }

  async all(): Promise<HubInvite[]> {
    const read = (session: Session) => session.rows<InviteRow>(`SELECT invite FROM ${this.#table} ORDER BY ends, id`)
    return (await this.#connections.repeat(read)).map(inviteOf)
  }

  async withHash(hash: string): Promise<HubInvite | undefined> {
    const read = (session: Session) =>
      session.rows<InviteRow>(`SELECT invite FROM ${this.#table} WHERE hash = $1`, [column(hash)])
    const [row] = await this.#connections.repeat(read)
    return row && inviteOf(row)
  }

  async put(invite: HubInvite, endedBefore: number): Promise<void> {
    const { id, name, hash, ends } = invite
    await this.#change(async (session) => {
      await session.run(`DELETE FROM ${this.#table} WHERE ends < $1 OR lower(name) = lower($2)`, [
        endedBefore,
        column(name),
      ])
      await session.run(`INSERT INTO ${this.#table} (id, name, hash, ends, invite) VALUES ($1, $2, $3, $4, $5)`, [
        column(id),
        column(name),
        hash,
        ends,
        JSON.stringify(invite),
      ])
    })
  }

  use(id: string, used: { hash: string; at: number }): Promise<boolean> {
    return this.#change(async (session) => {
      const [row] = await session.rows<InviteRow>(`SELECT invite FROM ${this.#table} WHERE id = $1 FOR UPDATE`, [
        column(id),
      ])
      const invite = row && inviteOf(row)
      if (!invite || invite.used) return false
      await session.run(`UPDATE ${this.#table} SET invite = $2 WHERE id = $1`, [
        column(id),
        JSON.stringify({ ...invite, used }),
      ])
      return true
    })
  }

  async removeNamed(name: string): Promise<void> {
    await this.#change((session) =>
      session.run(`DELETE FROM ${this.#table} WHERE lower(name) = lower($1)`, [column(name)]),
    )
  }

  /** Runs one change of any hub after another. */
  async #change<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const { schema, shown } = this.#connections.address
    try {
      return await this.#connections.use(async (session) => {
        await session.run('BEGIN')
        await session.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`termaite invites ${schema}`])
        const done = await work(session)
        await session.run('COMMIT')
        return done
      })
    } catch (error) {
      throw ledgerFailure(error, shown)
    }
  }
}
