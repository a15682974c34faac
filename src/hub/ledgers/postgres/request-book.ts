import type { HubRequestBook, KeptRequest } from '../../../core/work/hub-request.ts'
import type { RequestRow } from '../book-entries.ts'
import type { Connections, Session } from './connections.ts'
import { requestOf } from '../book-entries.ts'

/** The hub's memory of requests, which all hubs of a PostgreSQL ledger share. Each statement is a transaction, and may be sent again. */
export class PostgresRequestBook implements HubRequestBook {
  #connections: Connections
  #table: string

  constructor(connections: Connections) {
    this.#connections = connections
    this.#table = `${connections.address.schema}.requests`
  }

  async begin(request: Omit<KeptRequest, 'answer'>, begunBefore: number): Promise<KeptRequest> {
    const { name, run, body, at } = request
    for (;;) {
      const [row] = await this.#connections.repeat(async (session) => {
        await session.run(`DELETE FROM ${this.#table} WHERE at < $1`, [begunBefore])
        await session.run(
          `INSERT INTO ${this.#table} (name, run, body, at) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING`,
          [name, run, body, at],
        )
        return session.rows<RequestRow>(`SELECT name, run, body, at, answer FROM ${this.#table} WHERE name = $1`, [
          name,
        ])
      })
      // Another hub may have forgotten its request between the two statements.
      if (row) return requestOf(row)
    }
  }

  async answer(name: string, answer: string): Promise<void> {
    await this.#run(`UPDATE ${this.#table} SET answer = $2 WHERE name = $1`, [name, answer])
  }

  async forget(name: string, run: string): Promise<void> {
    await this.#run(`DELETE FROM ${this.#table} WHERE name = $1 AND run = $2 AND answer IS NULL`, [name, run])
  }

  async #run(text: string, values: unknown[]): Promise<void> {
    await this.#connections.repeat((session: Session) => session.run(text, values))
  }
}
