import type { HubRequestBook, KeptRequest } from '../../core/work/hub-request.ts'
import type { BookDatabase } from './ledger-books.ts'
import { requestTable } from './ledger-tables.ts'
import { BookTable } from './ledger-books.ts'

/** The hub's memory of requests, stored in its ledger. */
export class LedgerRequestBook implements HubRequestBook {
  #database: BookDatabase
  #requests: BookTable<KeptRequest>

  constructor(database: BookDatabase) {
    this.#database = database
    this.#requests = new BookTable(database, requestTable)
  }

  async begin(request: Omit<KeptRequest, 'answer'>, begunBefore: number): Promise<KeptRequest> {
    const requests = this.#requests
    for (;;) {
      const row = await this.#database.write(function* () {
        yield* requests.remove('at < ?', begunBefore)
        yield* requests.insert(request)
        return (yield* requests.find('WHERE name = ?', request.name))[0]
      })
      // Another hub may have removed the request between the two statements.
      if (row) return row
    }
  }

  async answer(name: string, answer: string): Promise<void> {
    await this.#database.write(() => this.#requests.set('answer = ? WHERE name = ?', answer, name))
  }

  async forget(name: string, run: string): Promise<void> {
    await this.#database.write(() => this.#requests.remove('name = ? AND run = ? AND answer IS NULL', name, run))
  }
}
