import type { HubKey, HubKeyBook } from '../model/access/hub-key.ts'
import type { BookDatabase } from './ledger-books.ts'
import { keyTable } from './ledger-tables.ts'
import { BookTable, markUsed } from './ledger-books.ts'

/** The hub's keys in its ledger. */
export class LedgerKeyBook implements HubKeyBook {
  #database: BookDatabase
  #keys: BookTable<HubKey>
  /** The keys by the hashes of their secrets, including the old secrets of rotated keys. */
  #byHash: () => Promise<Map<string, HubKey>>

  constructor(database: BookDatabase) {
    this.#database = database
    const stored = (this.#keys = new BookTable(database, keyTable))
    this.#byHash = database.cached(function* () {
      const keys = yield* stored.find('')
      const old = keys.flatMap((key) => (key.old ? [[key.old.hash, key] as const] : []))
      return new Map([...old, ...keys.map((key) => [key.hash, key] as const)])
    })
  }

  all(): Promise<HubKey[]> {
    return this.#database.read(() => this.#keys.find('ORDER BY made, id'))
  }

  async withHash(hash: string): Promise<HubKey | undefined> {
    return (await this.#byHash()).get(hash)
  }

  put(key: HubKey, instead?: Pick<HubKey, 'id' | 'hash'>): Promise<boolean> {
    const keys = this.#keys
    return this.#database.change(function* () {
      if (instead && (yield* keys.remove('id = ? AND hash = ?', instead.id, instead.hash)) === 0) return false
      return yield* keys.insert(key)
    })
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#database.change(() => this.#keys.remove('id = ?', id))) === 1
  }

  async markUsed(id: string, at: number): Promise<void> {
    await markUsed(this.#database, this.#keys, await this.#byHash(), { id, used: at })
  }
}
