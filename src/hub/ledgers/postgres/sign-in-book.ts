import type { SignIn, SignInBook, SignInLink } from '../../model/access/sign-in.ts'
import type { SignInRow } from '../book-entries.ts'
import type { Connections } from './connections.ts'
import type { Listener } from './listener.ts'
import { signInOf } from '../book-entries.ts'
import { BookRows } from './book-rows.ts'
import { column } from './rows.ts'

/** The hub's links and sign-ins in PostgreSQL. */
export class PostgresSignInBook implements SignInBook {
  #schema: string
  #rows: BookRows<SignIn[]>
  #links: BookRows<SignInLink[]>
  /** The sign-ins by the hashes of their cookies, built from the rows in `#of`. */
  #byCookie = new Map<string, SignIn>()
  #of: SignIn[] | undefined

  constructor(connections: Connections, listener: Listener) {
    const s = (this.#schema = connections.address.schema)
    this.#rows = new BookRows(connections, listener, async (session) => {
      const rows = await session.rows<SignInRow>(`SELECT sign_in, used FROM ${s}.sign_ins ORDER BY made, id`)
      return rows.map(signInOf)
    })
    this.#links = new BookRows(connections, listener, async (session) => {
      const rows = await session.rows<{ link: string }>(`SELECT link FROM ${s}.links ORDER BY made, id`)
      return rows.map(({ link }) => JSON.parse(link) as SignInLink)
    })
  }

  links(): Promise<SignInLink[]> {
    return this.#links.fresh()
  }

  putLink(link: SignInLink, most: number): Promise<boolean> {
    return this.#links.change(async (session) => {
      const made = await session.run(
        `INSERT INTO ${this.#schema}.links (id, name, made, link)
          SELECT $1, $2, $3, $4 WHERE (SELECT count(*) FROM ${this.#schema}.links WHERE name = $2) < $5`,
        [column(link.id), column(link.name), link.made, JSON.stringify(link), most],
      )
      return made.rowCount === 1
    })
  }

  removeLink(id: string): Promise<boolean> {
    return this.#links.change(async (session) => {
      const gone = await session.run(`DELETE FROM ${this.#schema}.links WHERE id = $1`, [column(id)])
      return gone.rowCount === 1
    })
  }

  all(): Promise<SignIn[]> {
    return this.#rows.fresh()
  }

  async withCookie(hash: string): Promise<SignIn | undefined> {
    const signIns = await this.#rows.rows()
    if (this.#of !== signIns) {
      this.#byCookie = new Map(signIns.map((signIn) => [signIn.cookieHash, signIn]))
      this.#of = signIns
    }
    return this.#byCookie.get(hash)
  }

  put(signIn: SignIn): Promise<boolean> {
    const { used, ...rest } = signIn
    return this.#rows.change(async (session) => {
      const [row] = await session.rows<{ link: string }>(`SELECT link FROM ${this.#schema}.links WHERE id = $1`, [
        column(signIn.link),
      ])
      if (!row) return false
      if ((JSON.parse(row.link) as SignInLink).once)
        await session.run(`DELETE FROM ${this.#schema}.links WHERE id = $1`, [column(signIn.link)])
      await session.run(
        `INSERT INTO ${this.#schema}.sign_ins (id, cookie, made, sign_in, used) VALUES ($1, $2, $3, $4, $5)`,
        [column(signIn.id), signIn.cookieHash, signIn.made, JSON.stringify(rest), used ?? null],
      )
      return true
    })
  }

  remove(id: string): Promise<boolean> {
    return this.#rows.change(async (session) => {
      const gone = await session.run(`DELETE FROM ${this.#schema}.sign_ins WHERE id = $1`, [column(id)])
      return gone.rowCount === 1
    })
  }

  async markUsed(id: string, at: number): Promise<void> {
    await this.#rows.note(`UPDATE ${this.#schema}.sign_ins SET used = $2 WHERE id = $1`, [column(id), at])
  }
}
