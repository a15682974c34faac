import type { Clock } from '../base/clock.ts'
import type { HubCaller, HubKey, HubKeyBook, HubRole } from '../core/work/hub-key.ts'
import { defined } from '../base/defined.ts'
import { randomBytes } from 'node:crypto'
import { Ages } from './ages.ts'
import { hashOf, isSameHash, newSecret } from './secret.ts'
import { HubError } from './task-rules.ts'

/** A key as it is listed: without anything from which its secret could be learned. */
export type ListedKey = Omit<HubKey, 'hash'>

/** A new key. Its secret is shown here once and kept nowhere. */
export type NewKey = { key: ListedKey; secret: string }

/** The key of the person whose machine the hub runs on, in a file that only that person can read. */
export interface OwnKey {
  /** The key in the file now, and when it was written. */
  secret(): string
  made(): number
  /** Writes a new key into the file. */
  renew(): void
  file: string
}

const own = { id: 'own', name: 'user', role: 'admin' } as const

/** A lent key that is not used for this time ends: its run is over, and the process that lent it could not say so. */
const lentMs = 24 * 3_600_000
/** The time of the last use is written at most this often. */
const markMs = 10 * 60_000

/** Names that the hub writes itself, or that look like an id. */
const reserved = /^(?:user|own|hub|termaite|unknown|key-.*)$/i

/** Called with the id of a key that has ended, and the caller whose request ended it. */
type KeyFollower = (id: string, by: HubCaller) => void

type Parts = { book: HubKeyBook; own: OwnKey; clock: Clock }

/** The keys of the hub's clients, each with a name and a role. */
export class HubKeys {
  #book: HubKeyBook
  #own: OwnKey
  #clock: Clock
  /** How long ago each key was used, and how long ago that was written down. */
  #useAges: Ages
  #markAges: Ages
  #followers = new Set<KeyFollower>()

  constructor({ book, own, clock }: Parts) {
    this.#book = book
    this.#own = own
    this.#clock = clock
    this.#useAges = new Ages(clock)
    this.#markAges = new Ages(clock)
  }

  /** The client that a secret belongs to. */
  callerOf(secret: string): HubCaller | undefined {
    const hash = hashOf(secret)
    const isOwn = isSameHash(hash, hashOf(this.#own.secret()))
    const key = this.#book.withHash(hash)
    if (isOwn) return { ...own }
    if (!key || !isSameHash(key.hash, hash) || this.#isOver(key)) return undefined
    this.#useAges.touch(key.id)
    if (this.#markAges.of(key.id) > markMs) this.#markUsed(key.id)
    return { id: key.id, name: key.name, role: key.role }
  }

  list(): ListedKey[] {
    this.#sweep()
    return [{ ...own, made: this.#own.made(), by: own.name }, ...this.#book.all().map(listed)]
  }

  add(name: string, role: HubRole, by: HubCaller): NewKey {
    checkName(name)
    this.#sweep()
    return this.#made({ name, role, by: by.name }, by)
  }

  /** Makes a key of the role `agent` for one run. A key that the same client lent to this name before ends. */
  lend(name: string, by: HubCaller): NewKey {
    checkName(name)
    this.#sweep()
    const before = this.#book.all().find((key) => sameName(key.name, name) && key.lent && key.by === by.name)
    return this.#made({ name, role: 'agent', by: by.name, lent: true }, by, before?.id)
  }

  /** Gives a key a new secret; the old one ends at once. The own key's new secret is only in its file. */
  rotate(nameOrId: string, by: HubCaller): NewKey | { file: string } {
    if (isOwn(nameOrId)) {
      this.#own.renew()
      this.#ended(own.id, by)
      return { file: this.#own.file }
    }
    const { id, name, role, lent } = this.#find(nameOrId)
    return this.#made(defined({ name, role, by: by.name, lent }), by, id)
  }

  /** Ends a key; open connections of its client are cut, except that of the request itself. */
  revoke(nameOrId: string, by: HubCaller): ListedKey {
    if (isOwn(nameOrId))
      throw new HubError(
        'conflict',
        `The key of ${own.name} is this machine's own and cannot be revoked. Replace it with: termaite hub keys rotate ${own.name}`,
      )
    const key = this.#find(nameOrId)
    if (!this.#book.remove(key.id)) throw absent(nameOrId)
    this.#ended(key.id, by)
    return listed(key)
  }

  /** Calls the listener for every key that ends. */
  follow(listener: KeyFollower): void {
    this.#followers.add(listener)
  }

  #made(key: Pick<HubKey, 'name' | 'role' | 'by' | 'lent'>, by: HubCaller, instead?: string): NewKey {
    const secret = newSecret()
    const made = { id: `key-${randomBytes(4).toString('hex')}`, made: this.#clock.now(), ...key, hash: hashOf(secret) }
    if (!this.#book.put(made, instead))
      throw new HubError(
        'conflict',
        `There is a key named ${key.name} already. Choose another name, or revoke that key.`,
      )
    this.#useAges.touch(made.id)
    if (instead !== undefined) this.#ended(instead, by)
    return { key: listed(made), secret }
  }

  #find(nameOrId: string): HubKey {
    const all = this.#book.all()
    const found = all.find(({ id }) => id === nameOrId) ?? all.find(({ name }) => sameName(name, nameOrId))
    if (!found) throw absent(nameOrId)
    return found
  }

  #isOver({ id, lent, made, used = made }: HubKey): boolean {
    this.#useAges.learn(id, used)
    return lent === true && this.#useAges.of(id) > lentMs
  }

  #sweep(): void {
    for (const key of this.#book.all()) if (this.#isOver(key) && this.#book.remove(key.id)) this.#forget(key.id)
  }

  #forget(id: string): void {
    this.#useAges.forget(id)
    this.#markAges.forget(id)
  }

  #markUsed(id: string): void {
    try {
      this.#book.markUsed(id, this.#clock.now())
      this.#markAges.touch(id)
    } catch {
      // A full disk keeps nobody out; the time is written with a later request.
    }
  }

  #ended(id: string, by: HubCaller): void {
    this.#forget(id)
    for (const listener of this.#followers) listener(id, by)
  }
}

const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

const isOwn = (nameOrId: string) => nameOrId === own.id || sameName(nameOrId, own.name)

function listed({ hash: _, ...key }: HubKey): ListedKey {
  return key
}

function checkName(name: string): void {
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name))
    throw new HubError(
      'wrong',
      `The name of a key has 1 to 64 letters, digits, ".", "_" and "-", and begins with a letter or digit.`,
    )
  if (reserved.test(name))
    throw new HubError('wrong', `The name ${name} is kept for the hub itself. Choose another name.`)
}

function absent(nameOrId: string): HubError {
  return new HubError('missing', `There is no key ${nameOrId}. Show the keys with: termaite hub keys`)
}
