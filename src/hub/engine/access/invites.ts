import type { Clock } from '../../../base/time/clock.ts'
import type { HubInvite, HubInviteBook, InviteWish, ListedInvite, NewInvite } from '../../model/access/invitation.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { HubKeys } from './hub-keys.ts'
import type { ListedKey } from '../../model/access/hub-key.ts'
import { randomBytes } from 'node:crypto'
import { defined } from '../../../base/defined.ts'
import { codeOf, readCode } from '../../model/access/invitation.ts'
import { hashOf, isSameHash } from './secret.ts'
import { HubError } from '../rules/task-rules.ts'

/** How long a code can be used by default, and at most. */
const usualValidMs = 3_600_000
const mostValidMs = 7 * 24 * 3_600_000
/** An invitation stays listed for this time after it expired. */
const listedMs = 7 * 24 * 3_600_000

/** Invitations for agent machines. A machine makes its own secret and never sends it: the hub only gets its hash. */
export class Invites {
  #book: HubInviteBook
  #keys: HubKeys
  #clock: Clock

  constructor({ book, keys, clock }: { book: HubInviteBook; keys: HubKeys; clock: Clock }) {
    this.#book = book
    this.#keys = keys
    this.#clock = clock
  }

  async list(): Promise<ListedInvite[]> {
    return (await this.#book.all()).map(listedInvite)
  }

  /** Makes an invitation for a name that has no key yet, and withdraws an earlier invitation for the same name. */
  async make(name: string, by: HubCaller, { validMs = usualValidMs, lifeMs }: InviteWish = {}): Promise<NewInvite> {
    if (!(validMs > 0 && validMs <= mostValidMs))
      throw new HubError('wrong', 'The code of an invitation must be valid for longer than 0 and at most 7 days.')
    await this.#keys.checkFree(name, lifeMs)
    const code = codeOf(randomBytes(20))
    const made = this.#clock.now()
    const id = `invite-${randomBytes(4).toString('hex')}`
    const invite = defined({ id, name, hash: hashOf(code), by: by.name, made, ends: made + validMs, lifeMs })
    await this.#book.put(invite, made - listedMs)
    return { invite: listedInvite(invite), code }
  }

  /**
   * Exchanges a code for a key; `hash` is the hash of the secret that the machine made. Undefined if the code is unknown, expired or
   * used. The key is stored first: if the hub dies in between, repeating the request returns the same key, and another machine finds the
   * name taken.
   */
  async join(typed: string, hash: string): Promise<{ invite: ListedInvite; key: ListedKey } | undefined> {
    const code = readCode(typed)
    const invite = code === undefined ? undefined : await this.#book.withHash(hashOf(code))
    if (!invite || this.#clock.now() >= invite.ends) return undefined
    const { id, name, by, lifeMs, used } = invite
    if (used && !isSameHash(used.hash, hash)) return undefined
    const key = used
      ? await this.#keys.withSecretHash(hash)
      : await this.#keys.admit(defined({ name, hash, by, lifeMs }))
    if (!key) return undefined
    if (!used) await this.#book.use(id, { hash, at: this.#clock.now() })
    return { invite: listedInvite(invite), key }
  }
}

function listedInvite({ hash: _, used, ...invite }: HubInvite): ListedInvite {
  return defined({ ...invite, usedAt: used?.at })
}
