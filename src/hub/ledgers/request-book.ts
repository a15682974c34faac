import type { HubRequestBook, KeptRequest } from '../../core/work/hub-request.ts'
import type { BookDatabase } from './ledger-books.ts'
import { requestTable } from './ledger-tables.ts'
import { changed, found, inserted } from './ledger-books.ts'

/** The hub's memory of requests in its ledger. */
export class LedgerRequestBook implements HubRequestBook {
  #database: BookDatabase
  #requests: string

  constructor(database: BookDatabase) {
    this.#database = database
    this.#requests = database.table(requestTable.name)
  }

  async begin(request: Omit<KeptRequest, 'answer'>, begunBefore: number): Promise<KeptRequest> {
    const [database, requests] = [this.#database, this.#requests]
    for (;;) {
      const row = await database.write(function* () {
        yield* changed(`DELETE FROM ${requests} WHERE at < ?`, begunBefore)
        yield* inserted(database, requestTable, request)
        return (yield* found(database, requestTable, 'WHERE name = ?', request.name))[0]
      })
      // Another hub may have forgotten its request between the two statements.
      if (row) return row
    }
  }

  async answer(name: string, answer: string): Promise<void> {
    await this.#database.write(() => changed(`UPDATE ${this.#requests} SET answer = ? WHERE name = ?`, answer, name))
  }

  async forget(name: string, run: string): Promise<void> {
    const text = `DELETE FROM ${this.#requests} WHERE name = ? AND run = ? AND answer IS NULL`
    await this.#database.write(() => changed(text, name, run))
  }
}
