import type { SignIn, SignInBook, SignInLink } from '../model/access/sign-in.ts'
import type { BookDatabase } from './ledger-books.ts'
import { linkTable, signInTable } from './ledger-tables.ts'
import { BookTable, markUsed } from './ledger-books.ts'

/** The hub's links and sign-ins, stored in its ledger. */
export class LedgerSignInBook implements SignInBook {
  #database: BookDatabase
  #links: BookTable<SignInLink>
  #signIns: BookTable<SignIn>
  /** The sign-ins by the hashes of their cookies. */
  #byCookie: () => Promise<Map<string, SignIn>>

  constructor(database: BookDatabase) {
    this.#database = database
    this.#links = new BookTable(database, linkTable)
    const stored = (this.#signIns = new BookTable(database, signInTable))
    this.#byCookie = database.cached(function* () {
      return new Map((yield* stored.find('')).map((signIn) => [signIn.cookieHash, signIn]))
    })
  }

  links(): Promise<SignInLink[]> {
    return this.#database.read(() => this.#links.find('ORDER BY made, id'))
  }

  putLink(link: SignInLink, most: number): Promise<boolean> {
    const links = this.#links
    return this.#database.change(function* () {
      if ((yield* links.find('')).filter(({ name }) => name === link.name).length >= most) return false
      return yield* links.insert(link)
    })
  }

  async removeLink(id: string): Promise<boolean> {
    return (await this.#database.change(() => this.#links.remove('id = ?', id))) === 1
  }

  all(): Promise<SignIn[]> {
    return this.#database.read(() => this.#signIns.find('ORDER BY made, id'))
  }

  async withCookie(hash: string): Promise<SignIn | undefined> {
    return (await this.#byCookie()).get(hash)
  }

  put(signIn: SignIn): Promise<boolean> {
    const [links, signIns] = [this.#links, this.#signIns]
    return this.#database.change(function* () {
      const [link] = yield* links.find('WHERE id = ?', signIn.link)
      if (!link) return false
      if (link.once) yield* links.remove('id = ?', signIn.link)
      return yield* signIns.insert(signIn)
    })
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#database.change(() => this.#signIns.remove('id = ?', id))) === 1
  }

  async markUsed(id: string, at: number): Promise<void> {
    await markUsed(this.#database, this.#signIns, await this.#byCookie(), { id, used: at })
  }
}
