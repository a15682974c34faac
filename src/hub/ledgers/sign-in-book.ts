import type { SignIn, SignInBook, SignInLink } from '../model/access/sign-in.ts'
import type { BookDatabase, BookWork } from './ledger-books.ts'
import { linkTable, signInTable } from './ledger-tables.ts'
import { changed, found, inserted, markUsed } from './ledger-books.ts'

/** The hub's links and sign-ins in its ledger. */
export class LedgerSignInBook implements SignInBook {
  #database: BookDatabase
  #linkTable: string
  #signInTable: string
  /** The sign-ins by the hashes of their cookies. */
  #byCookie: () => Promise<Map<string, SignIn>>

  constructor(database: BookDatabase) {
    this.#database = database
    this.#linkTable = database.table(linkTable.name)
    this.#signInTable = database.table(signInTable.name)
    const load = () => this.#signIns()
    this.#byCookie = database.cached(function* () {
      return new Map((yield* load()).map((signIn) => [signIn.cookieHash, signIn]))
    })
  }

  links(): Promise<SignInLink[]> {
    return this.#database.read(() => this.#links('ORDER BY made, id'))
  }

  putLink(link: SignInLink, most: number): Promise<boolean> {
    const [database, links] = [this.#database, () => this.#links('')]
    return database.change(function* () {
      if ((yield* links()).filter(({ name }) => name === link.name).length >= most) return false
      return yield* inserted(database, linkTable, link)
    })
  }

  removeLink(id: string): Promise<boolean> {
    return this.#database.change(() => this.#remove(this.#linkTable, id))
  }

  all(): Promise<SignIn[]> {
    return this.#database.read(() => this.#signIns())
  }

  async withCookie(hash: string): Promise<SignIn | undefined> {
    return (await this.#byCookie()).get(hash)
  }

  put(signIn: SignIn): Promise<boolean> {
    const [database, find] = [this.#database, () => this.#links('WHERE id = ?', signIn.link)]
    const removeLink = () => this.#remove(this.#linkTable, signIn.link)
    return database.change(function* () {
      const [link] = yield* find()
      if (!link) return false
      if (link.once) yield* removeLink()
      return yield* inserted(database, signInTable, signIn)
    })
  }

  remove(id: string): Promise<boolean> {
    return this.#database.change(() => this.#remove(this.#signInTable, id))
  }

  async markUsed(id: string, at: number): Promise<void> {
    await markUsed(this.#database, this.#signInTable, await this.#byCookie(), { id, used: at })
  }

  #links(which: string, ...values: string[]): BookWork<SignInLink[]> {
    return found(this.#database, linkTable, which, ...values)
  }

  #signIns(): BookWork<SignIn[]> {
    return found(this.#database, signInTable, 'ORDER BY made, id')
  }

  *#remove(table: string, id: string): BookWork<boolean> {
    return (yield* changed(`DELETE FROM ${table} WHERE id = ?`, id)) === 1
  }
}
