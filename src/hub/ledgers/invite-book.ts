import type { HubInvite, HubInviteBook } from '../model/access/hub-invite.ts'
import type { BookDatabase, BookWork } from './ledger-books.ts'
import { inviteTable } from './ledger-tables.ts'
import { changed, found, inserted } from './ledger-books.ts'

/** The hub's invitations in its ledger. They are needed rarely, so every call reads the database. */
export class LedgerInviteBook implements HubInviteBook {
  #database: BookDatabase
  #invites: string

  constructor(database: BookDatabase) {
    this.#database = database
    this.#invites = database.table(inviteTable.name)
  }

  all(): Promise<HubInvite[]> {
    return this.#database.read(() => this.#found('ORDER BY ends, id'))
  }

  async withHash(hash: string): Promise<HubInvite | undefined> {
    const [invite] = await this.#database.read(() => this.#found('WHERE hash = ?', hash))
    return invite
  }

  async put(invite: HubInvite, endedBefore: number): Promise<void> {
    const [database, invites] = [this.#database, this.#invites]
    await database.change(function* () {
      yield* changed(`DELETE FROM ${invites} WHERE ends < ? OR lower(name) = lower(?)`, endedBefore, invite.name)
      yield* inserted(database, inviteTable, invite)
    })
  }

  use(id: string, used: { hash: string; at: number }): Promise<boolean> {
    const [find, invites] = [() => this.#found('WHERE id = ?', id), this.#invites]
    return this.#database.change(function* () {
      const [invite] = yield* find()
      if (!invite || invite.used) return false
      yield* changed(`UPDATE ${invites} SET invite = ? WHERE id = ?`, JSON.stringify({ ...invite, used }), id)
      return true
    })
  }

  async removeNamed(name: string): Promise<void> {
    await this.#database.change(() => changed(`DELETE FROM ${this.#invites} WHERE lower(name) = lower(?)`, name))
  }

  #found(which: string, ...values: string[]): BookWork<HubInvite[]> {
    return found(this.#database, inviteTable, which, ...values)
  }
}
