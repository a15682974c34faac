import type { HubKey, HubKeyBook } from '../model/access/hub-key.ts'
import type { BookDatabase, BookWork } from './ledger-books.ts'
import { keyTable } from './ledger-tables.ts'
import { changed, found, inserted, markUsed } from './ledger-books.ts'

/** The hub's keys in its ledger. */
export class LedgerKeyBook implements HubKeyBook {
  #database: BookDatabase
  #keys: string
  /** The keys by the hashes of their secrets, also of the old ones. */
  #byHash: () => Promise<Map<string, HubKey>>

  constructor(database: BookDatabase) {
    this.#database = database
    this.#keys = database.table(keyTable.name)
    const load = () => this.#all()
    this.#byHash = database.cached(function* () {
      const keys = yield* load()
      const old = keys.flatMap((key) => (key.old ? [[key.old.hash, key] as const] : []))
      return new Map([...old, ...keys.map((key) => [key.hash, key] as const)])
    })
  }

  all(): Promise<HubKey[]> {
    return this.#database.read(() => this.#all())
  }

  async withHash(hash: string): Promise<HubKey | undefined> {
    return (await this.#byHash()).get(hash)
  }

  put(key: HubKey, instead?: Pick<HubKey, 'id' | 'hash'>): Promise<boolean> {
    const [database, keys] = [this.#database, this.#keys]
    return database.change(function* () {
      if (instead) {
        const gone = yield* changed(`DELETE FROM ${keys} WHERE id = ? AND hash = ?`, instead.id, instead.hash)
        if (gone === 0) return false
      }
      return yield* inserted(database, keyTable, key)
    })
  }

  remove(id: string): Promise<boolean> {
    const keys = this.#keys
    return this.#database.change(function* () {
      return (yield* changed(`DELETE FROM ${keys} WHERE id = ?`, id)) === 1
    })
  }

  async markUsed(id: string, at: number): Promise<void> {
    await markUsed(this.#database, this.#keys, await this.#byHash(), { id, used: at })
  }

  #all(): BookWork<HubKey[]> {
    return found(this.#database, keyTable, 'ORDER BY made, id')
  }
}
