import type { HubKey, HubKeyBook } from '../../model/access/hub-key.ts'
import type { KeyRow } from '../book-entries.ts'
import type { Connections } from './connections.ts'
import type { Listener } from './listener.ts'
import { keyOf } from '../book-entries.ts'
import { BookRows } from './book-rows.ts'
import { column } from './rows.ts'

/** The hub's keys in PostgreSQL. */
export class PostgresKeyBook implements HubKeyBook {
  #schema: string
  #rows: BookRows<HubKey[]>
  /** The keys by the hashes of their secrets, built from the rows in `#of`. */
  #byHash = new Map<string, HubKey>()
  #of: HubKey[] | undefined

  constructor(connections: Connections, listener: Listener) {
    this.#schema = connections.address.schema
    this.#rows = new BookRows(connections, listener, async (session) => {
      const rows = await session.rows<KeyRow>(`SELECT key, used FROM ${this.#schema}.keys ORDER BY made, id`)
      return rows.map(keyOf)
    })
  }

  all(): Promise<HubKey[]> {
    return this.#rows.fresh()
  }

  async withHash(hash: string): Promise<HubKey | undefined> {
    const keys = await this.#rows.rows()
    if (this.#of !== keys) {
      const old = keys.flatMap((key) => (key.old ? [[key.old.hash, key] as const] : []))
      this.#byHash = new Map([...old, ...keys.map((key) => [key.hash, key] as const)])
      this.#of = keys
    }
    return this.#byHash.get(hash)
  }

  put(key: HubKey, instead?: Pick<HubKey, 'id' | 'hash'>): Promise<boolean> {
    const { used, ...rest } = key
    return this.#rows.change(async (session) => {
      if (instead) {
        const gone = await session.run(`DELETE FROM ${this.#schema}.keys WHERE id = $1 AND hash = $2`, [
          column(instead.id),
          instead.hash,
        ])
        if (gone.rowCount === 0) return false
      }
      const made = await session.run(
        `INSERT INTO ${this.#schema}.keys (id, name, hash, made, key, used) VALUES ($1, $2, $3, $4, $5, $6)
          ON CONFLICT DO NOTHING`,
        [column(key.id), column(key.name), key.hash, key.made, JSON.stringify(rest), used ?? null],
      )
      return made.rowCount === 1
    })
  }

  remove(id: string): Promise<boolean> {
    return this.#rows.change(async (session) => {
      const gone = await session.run(`DELETE FROM ${this.#schema}.keys WHERE id = $1`, [column(id)])
      return gone.rowCount === 1
    })
  }

  async markUsed(id: string, at: number): Promise<void> {
    await this.#rows.note(`UPDATE ${this.#schema}.keys SET used = $2 WHERE id = $1`, [column(id), at])
  }
}
