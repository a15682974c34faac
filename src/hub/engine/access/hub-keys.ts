import type { Clock } from '../../../base/time/clock.ts'
import type { HubInviteBook } from '../../model/access/invitation.ts'
import type { HubCaller, HubKey, HubKeyBook, HubRole, ListedKey, NewKey, Rotation } from '../../model/access/hub-key.ts'
import { defined } from '../../../base/defined.ts'
import { randomBytes } from 'node:crypto'
import { agentOf } from './hub-roles.ts'
import { UseTimes } from './use-times.ts'
import { hashOf, isSameHash, newSecret } from './secret.ts'
import { HubError } from '../rules/task-rules.ts'

/** The key of the person whose machine the hub runs on, in a file that only that person can read. */
export interface OwnKey {
  /** The current key in the file. */
  secret(): string
  made(): number
  /** Writes a new key into the file. */
  renew(): void
  file: string
}

const own = { id: 'own', name: 'user', role: 'admin' } as const

/** A lent key that is unused for this long expires: its run is over, and the process that lent it could not revoke it. */
const lentMs = 24 * 3_600_000
/** An expired key stays listed for this time, so that people see why a client no longer works. */
const listedMs = 30 * 24 * 3_600_000
/** How long the old secret of a rotated key is accepted by default, and at most. */
const usualGraceMs = 3_600_000
const mostGraceMs = 30 * 24 * 3_600_000
/** The longest lifetime of a key that expires. */
const mostLifeMs = 10 * 365 * 24 * 3_600_000

/** Names that the hub itself records as the author of changes, and names that look like an id. */
const reserved = /^(?:user|own|hub|termaite|unknown|key-.*)$/i

export const isReserved = (name: string) => reserved.test(name)

/**
 * Called with the id of a key that was revoked or expired, and the caller whose request caused that; the request waits for the follower.
 */
type KeyFollower = (id: string, by: HubCaller) => void | Promise<void>

/** `invites`: the open invitations. Revoking the key of a name also withdraws its invitation. */
type HubKeyParts = { book: HubKeyBook; own: OwnKey; clock: Clock; invites?: Pick<HubInviteBook, 'removeNamed'> }

/** The keys of the hub's clients, each with a name and a role. */
export class HubKeys {
  #book: HubKeyBook
  #own: OwnKey
  #invites: HubKeyParts['invites']
  #clock: Clock
  #uses: UseTimes
  #followers = new Set<KeyFollower>()

  constructor({ book, own, clock, invites }: HubKeyParts) {
    this.#book = book
    this.#invites = invites
    this.#own = own
    this.#clock = clock
    this.#uses = new UseTimes({ clock, write: (id, at) => book.markUsed(id, at) })
  }

  /** The client that a secret belongs to; undefined if the secret is unknown. */
  async callerOf(secret: string): Promise<HubCaller | undefined> {
    const hash = hashOf(secret)
    const isOwn = isSameHash(hash, hashOf(this.#own.secret()))
    const key = await this.#book.withHash(hash)
    if (isOwn) return { ...own }
    if (!key || this.#isOver(key)) return undefined
    const { id, name, role, old } = key
    const isNow = isSameHash(key.hash, hash)
    if (!isNow && !(old && isSameHash(old.hash, hash) && this.#clock.now() < old.ends)) return undefined
    this.#uses.use(id)
    const ends = Math.min(key.ends ?? Infinity, isNow ? Infinity : old!.ends)
    return defined({ id, name, role, ends: ends === Infinity ? undefined : ends })
  }

  /** Whether a secret, given by its hash, is still accepted: its key may have expired, or another hub may have revoked it. */
  async accepted(): Promise<(hash: string) => boolean> {
    const now = this.#clock.now()
    const keys = (await this.#book.all()).filter((key) => !this.#isOver(key))
    const hashes = keys.flatMap(({ hash, old }) => (old && now < old.ends ? [hash, old.hash] : [hash]))
    const all = new Set([hashOf(this.#own.secret()), ...hashes])
    return (hash) => all.has(hash)
  }

  async list(): Promise<ListedKey[]> {
    await this.#sweep()
    const now = this.#clock.now()
    return [
      { ...own, made: this.#own.made(), by: own.name },
      ...(await this.#book.all()).map((key) => listedKey(key, now)),
    ]
  }

  /** Makes a key. If `lifeMs` is given, the key expires after that time. */
  async add(name: string, role: HubRole, by: HubCaller, lifeMs?: number): Promise<NewKey> {
    checkName(name)
    await this.#sweep()
    return this.#made({ name, role, by: by.name, ...this.#span(lifeMs) }, by)
  }

  /** Throws if a key with this name and lifetime cannot be made. */
  async checkFree(name: string, lifeMs?: number): Promise<void> {
    checkName(name)
    this.#span(lifeMs)
    await this.#sweep()
    if ((await this.#book.all()).some((key) => sameName(key.name, name))) throw nameTaken(name)
  }

  /**
   * The id under which a caller registers an agent: its own name, or for an admin also a name that has no key. An admin's client that
   * took another agent's name would take that agent's tasks.
   */
  async agentFor(caller: HubCaller, named: string | undefined): Promise<string> {
    const name = agentOf(caller, named)
    if (name === caller.name) return name
    checkName(name)
    if ((await this.#book.all()).some((key) => sameName(key.name, name) && !this.#isOver(key)))
      throw new HubError('conflict', `The name ${name} belongs to a key of its own. Register under another agentId.`)
    return name
  }

  /** Makes a key of the role `agent` whose secret only its client knows. Repeating the request returns the same key. */
  async admit(wish: { name: string; hash: string; by: string; lifeMs?: number }): Promise<ListedKey> {
    const { name, hash, by, lifeMs } = wish
    const known = await this.withSecretHash(hash)
    if (known?.name === name && known.role === 'agent') return known
    const id = `key-${randomBytes(4).toString('hex')}`
    const made = { id, name, role: 'agent' as const, hash, by, ...this.#span(lifeMs) }
    if (known || !(await this.#book.put(made))) throw nameTaken(name)
    this.#uses.begin(id)
    return listedKey(made, made.made)
  }

  /** The key whose present secret has this hash, as long as it is accepted. */
  async withSecretHash(hash: string): Promise<ListedKey | undefined> {
    const key = (await this.#book.all()).find((each) => each.hash === hash)
    return key && !this.#isOver(key) ? listedKey(key, this.#clock.now()) : undefined
  }

  /** Makes a key of the role `agent` for one run, and revokes the key that the same client lent to this name earlier. */
  async lend(name: string, by: HubCaller): Promise<NewKey> {
    checkName(name)
    await this.#sweep()
    const before = (await this.#book.all()).find((key) => sameName(key.name, name) && key.lent && key.by === by.name)
    return this.#made({ name, role: 'agent', by: by.name, lent: true, ...this.#span() }, by, before)
  }

  /**
   * Gives a key a new secret. The old secret is accepted for another `graceMs`, so that every client can be given the new one in the
   * meantime; with 0 it is revoked at once, together with its connections and sign-ins. A key that expires gets its full lifetime again,
   * or `lifeMs`. The new secret of the machine's own key is only written to its file, where the commands of this machine find it, and the
   * old one is revoked at once.
   */
  async rotate(
    nameOrId: string,
    by: HubCaller,
    { graceMs = usualGraceMs, lifeMs }: Rotation = {},
  ): Promise<NewKey | { file: string }> {
    if (!(graceMs >= 0 && graceMs <= mostGraceMs))
      throw new HubError('wrong', 'The old secret of a key is accepted for at most 30 days more.')
    if (isOwn(nameOrId)) {
      this.#own.renew()
      await this.#ended(own.id, by)
      return { file: this.#own.file }
    }
    const before = await this.#find(nameOrId)
    const { id, name, role, lent, used, hash } = before
    const life = lifeMs ?? (before.ends === undefined ? undefined : before.ends - before.made)
    const next = { name, role, by: by.name, lent, ...this.#span(life) }
    if (graceMs === 0 || this.#isOver(before)) return this.#made(defined(next), by, before)
    const old = { hash, ends: next.made + graceMs }
    return this.#made(defined({ ...next, id, used, old }), by, before)
  }

  /** Revokes a key; open connections of its client are closed, except that of the request itself. */
  async revoke(nameOrId: string, by: HubCaller): Promise<ListedKey> {
    if (isOwn(nameOrId))
      throw new HubError(
        'conflict',
        `The key of ${own.name} is this machine's own and cannot be revoked. Replace it with: termaite hub keys rotate ${own.name}`,
      )
    const key = await this.#find(nameOrId)
    if (!(await this.#book.remove(key.id))) throw absent(nameOrId)
    await this.#invites?.removeNamed(key.name)
    await this.#ended(key.id, by)
    return listedKey(key, this.#clock.now())
  }

  /** Calls the listener for every key that is revoked or expires. */
  follow(listener: KeyFollower): void {
    this.#followers.add(listener)
  }

  async #made(key: Omit<HubKey, 'id' | 'hash'> & { id?: string }, by: HubCaller, instead?: HubKey): Promise<NewKey> {
    const secret = newSecret()
    const made = { id: `key-${randomBytes(4).toString('hex')}`, ...key, hash: hashOf(secret) }
    if (!(await this.#book.put(made, instead)))
      throw new HubError(
        'conflict',
        instead
          ? `The key of ${key.name} was changed by somebody else at this moment. Look at it and try again: termaite hub keys`
          : takenWords(key.name),
      )
    this.#uses.begin(made.id)
    if (instead && instead.id !== made.id) await this.#ended(instead.id, by)
    return { key: listedKey(made, made.made), secret }
  }

  /** When a key made now becomes valid, and when it expires. */
  #span(lifeMs?: number): Pick<HubKey, 'made' | 'ends'> {
    const made = this.#clock.now()
    if (lifeMs === undefined) return { made }
    if (!(lifeMs > 0 && lifeMs <= mostLifeMs))
      throw new HubError('wrong', 'A key that expires must last longer than 0 and at most ten years.')
    return { made, ends: made + lifeMs }
  }

  async #find(nameOrId: string): Promise<HubKey> {
    const all = await this.#book.all()
    const found = all.find(({ id }) => id === nameOrId) ?? all.find(({ name }) => sameName(name, nameOrId))
    if (!found) throw absent(nameOrId)
    return found
  }

  #isOver({ id, lent, made, used = made, ends = Infinity }: HubKey): boolean {
    const age = this.#uses.age(id, used)
    return this.#clock.now() >= ends || (lent === true && age > lentMs)
  }

  /** Removes lent keys that nobody uses, and keys that expired long ago. */
  async #sweep(): Promise<void> {
    const now = this.#clock.now()
    for (const key of await this.#book.all()) {
      const isGone = key.lent ? this.#isOver(key) : now >= (key.ends ?? Infinity) + listedMs
      if (isGone && (await this.#book.remove(key.id))) this.#uses.forget(key.id)
    }
  }

  async #ended(id: string, by: HubCaller): Promise<void> {
    this.#uses.forget(id)
    for (const listener of this.#followers) await listener(id, by)
  }
}

const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

const isOwn = (nameOrId: string) => nameOrId === own.id || sameName(nameOrId, own.name)

function listedKey({ hash: _, old, ...key }: HubKey, now: number): ListedKey {
  return defined({ ...key, oldEnds: old && now < old.ends ? old.ends : undefined })
}

function checkName(name: string): void {
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name))
    throw new HubError(
      'wrong',
      `The name of a key has 1 to 64 letters, digits, ".", "_" and "-", and begins with a letter or digit.`,
    )
  if (isReserved(name))
    throw new HubError('wrong', `The name ${name} is reserved for the hub itself. Choose another name.`)
}

const takenWords = (name: string) => `There is a key named ${name} already. Choose another name, or revoke that key.`

const nameTaken = (name: string) => new HubError('conflict', takenWords(name))

function absent(nameOrId: string): HubError {
  return new HubError('missing', `There is no key ${nameOrId}. Show the keys with: termaite hub keys`)
}
