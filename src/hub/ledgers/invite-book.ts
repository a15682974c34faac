import type { HubInvite, HubInviteBook } from '../model/access/invitation.ts'
import type { BookDatabase } from './ledger-books.ts'
import { inviteTable } from './ledger-tables.ts'
import { BookTable } from './ledger-books.ts'

/** The hub's invitations in its ledger. They are rarely needed, so every call reads the database. */
export class LedgerInviteBook implements HubInviteBook {
  #database: BookDatabase
  #invites: BookTable<HubInvite>

  constructor(database: BookDatabase) {
    this.#database = database
    this.#invites = new BookTable(database, inviteTable)
  }

  all(): Promise<HubInvite[]> {
    return this.#database.read(() => this.#invites.find('ORDER BY ends, id'))
  }

  async withHash(hash: string): Promise<HubInvite | undefined> {
    return (await this.#database.read(() => this.#invites.find('WHERE hash = ?', hash)))[0]
  }

  async put(invite: HubInvite, endedBefore: number): Promise<void> {
    const invites = this.#invites
    await this.#database.change(function* () {
      yield* invites.remove('ends < ? OR lower(name) = lower(?)', endedBefore, invite.name)
      yield* invites.insert(invite)
    })
  }

  use(id: string, used: { hash: string; at: number }): Promise<boolean> {
    const invites = this.#invites
    return this.#database.change(function* () {
      const [invite] = yield* invites.find('WHERE id = ?', id)
      if (!invite || invite.used) return false
      yield* invites.set('invite = ? WHERE id = ?', JSON.stringify({ ...invite, used }), id)
      return true
    })
  }

  async removeNamed(name: string): Promise<void> {
    await this.#database.change(() => this.#invites.remove('lower(name) = lower(?)', name))
  }
}
