import type { Clock } from '../base/clock.ts'
import type { HubCaller } from '../core/work/hub-key.ts'
import type { LinkRole, SignIn, SignInBook, SignInLink } from '../core/work/sign-in.ts'
import { randomBytes } from 'node:crypto'
import { defined } from '../base/defined.ts'
import { linkRoles } from '../core/work/sign-in.ts'
import { Ages } from './ages.ts'
import { hashOf, isSameHash, newSecret } from './secret.ts'
import { HubError } from './task-rules.ts'

/** A link and a sign-in as they are listed: without anything from which a secret could be learned. */
export type ListedLink = Omit<SignInLink, 'hash' | 'key'>
export type ListedSignIn = Omit<SignIn, 'cookieHash' | 'pageHash' | 'key'>

/** A new link. The secret is shown here once and kept nowhere. */
export type NewLink = { link: ListedLink; secret: string }

/** A new sign-in with its two secrets, which only the browser keeps. */
export type NewSignIn = { signIn: ListedSignIn; cookie: string; page: string }

/** The wish for a link. A link that lasts can be used by several browsers until its end. */
export type LinkWish = { role: LinkRole; session?: string; hours?: number }

const hourMs = 3_600_000
/** A link for one use is opened at once or not at all. */
const onceMs = 10 * 60_000
/** The longest life of a link that lasts, and of a sign-in that nobody uses. */
export const longestHours = 30 * 24
const idleMs = longestHours * hourMs
/** The time of the last use is written at most this often. */
const markMs = 10 * 60_000
/** Browsers name themselves at length; this much of it is kept. */
const longestBrowser = 200

/** Called with the id of a sign-in that has ended, and the caller whose request ended it. */
type SignInFollower = (id: string, by: HubCaller | undefined) => void

/** The browsers that are signed in at the hub's page, and the links by which they sign in. */
export class SignIns {
  #book: SignInBook
  #clock: Clock
  #useAges: Ages
  #markAges: Ages
  #followers = new Set<SignInFollower>()

  constructor({ book, clock }: { book: SignInBook; clock: Clock }) {
    this.#book = book
    this.#clock = clock
    this.#useAges = new Ages(clock)
    this.#markAges = new Ages(clock)
  }

  /** Makes a link: for one use within ten minutes, or for any number of uses within the wished hours. */
  makeLink({ role, session, hours }: LinkWish, by: HubCaller): NewLink {
    checkWish({ role, session, hours }, by)
    this.#sweep()
    const secret = newSecret()
    const now = this.#clock.now()
    const link: SignInLink = defined({
      id: `link-${randomBytes(4).toString('hex')}`,
      name: by.name,
      role,
      session,
      key: by.id,
      made: now,
      ends: now + (hours === undefined ? onceMs : hours * hourMs),
      hash: hashOf(secret),
      once: hours === undefined,
    })
    this.#book.putLink(link)
    return { link: listedLink(link), secret }
  }

  /** Signs a browser in by the secret of its link; undefined when the link was used, has ended or never existed. */
  enter(secret: string, browser: string): NewSignIn | undefined {
    this.#sweep()
    const hash = hashOf(secret)
    const link = this.#book.links().find((each) => isSameHash(each.hash, hash))
    if (!link) return undefined
    const [cookie, page] = [newSecret(), newSecret()]
    const now = this.#clock.now()
    const { id, name, role, session, key, once, ends } = link
    const signIn: SignIn = defined({
      id: `browser-${randomBytes(4).toString('hex')}`,
      link: id,
      name,
      role,
      session,
      key,
      made: now,
      ends: once ? undefined : ends,
      browser: browser.slice(0, longestBrowser),
      cookieHash: hashOf(cookie),
      pageHash: hashOf(page),
    })
    if (!this.#book.put(signIn)) return undefined
    this.#useAges.touch(signIn.id)
    return { signIn: listedSignIn(signIn), cookie, page }
  }

  /** The caller that both secrets of a browser belong to. */
  callerOf(cookie: string, page: string): HubCaller | undefined {
    const hash = hashOf(cookie)
    const found = this.#book.withCookie(hash)
    if (!found || !isSameHash(found.cookieHash, hash) || !isSameHash(found.pageHash, hashOf(page))) return undefined
    if (this.#isOver(found)) return undefined
    this.#useAges.touch(found.id)
    if (this.#markAges.of(found.id) > markMs) this.#markUsed(found.id)
    return defined({ id: found.id, name: found.name, role: found.role, session: found.session })
  }

  /** The links that a client may see: an admin sees all, every other client its own. */
  links(by: HubCaller): ListedLink[] {
    this.#sweep()
    return this.#book.links().flatMap((link) => (isTheirs(link, by) ? [listedLink(link)] : []))
  }

  list(by: HubCaller): ListedSignIn[] {
    this.#sweep()
    return this.#book.all().flatMap((signIn) => (isTheirs(signIn, by) ? [listedSignIn(signIn)] : []))
  }

  /** Ends a sign-in, or a link with all of its sign-ins. A browser can always end its own sign-in. */
  end(id: string, by: HubCaller): void {
    const link = this.#book.links().find((each) => each.id === id)
    const signIns = this.#book.all().filter((each) => each.id === id || each.link === id)
    const [first] = [...(link ? [link] : []), ...signIns]
    if (!first)
      throw new HubError('missing', `There is no sign-in and no link ${id}. The page lists them under Sign-ins.`)
    if (by.id !== id && !isTheirs(first, by))
      throw new HubError('forbidden', `${id} belongs to ${first.name}: only an admin can end it.`)
    if (link) this.#book.removeLink(link.id)
    for (const signIn of signIns) this.#remove(signIn.id, by)
  }

  /** Ends every link and sign-in that a key has made, because the key has ended. */
  endOf(key: string, by: HubCaller): void {
    for (const link of this.#book.links()) if (link.key === key) this.#book.removeLink(link.id)
    for (const signIn of this.#book.all()) if (signIn.key === key) this.#remove(signIn.id, by)
  }

  /** Calls the listener for every sign-in that ends. */
  follow(listener: SignInFollower): void {
    this.#followers.add(listener)
  }

  #isOver({ id, made, ends, used = made }: SignIn): boolean {
    this.#useAges.learn(id, used)
    return (ends !== undefined && this.#clock.now() >= ends) || this.#useAges.of(id) > idleMs
  }

  #sweep(): void {
    const now = this.#clock.now()
    for (const link of this.#book.links()) if (now >= link.ends) this.#book.removeLink(link.id)
    for (const signIn of this.#book.all()) if (this.#isOver(signIn)) this.#remove(signIn.id, undefined)
  }

  #remove(id: string, by: HubCaller | undefined): void {
    if (!this.#book.remove(id)) return
    this.#useAges.forget(id)
    this.#markAges.forget(id)
    for (const listener of this.#followers) listener(id, by)
  }

  #markUsed(id: string): void {
    try {
      this.#book.markUsed(id, this.#clock.now())
      this.#markAges.touch(id)
    } catch {
      // A full disk keeps nobody out; the time is written with a later request.
    }
  }
}

function checkWish({ role, session, hours }: LinkWish, by: HubCaller): void {
  if ((role === 'guest') !== (session !== undefined))
    throw new HubError('wrong', 'A link for a guest names the session that it shows, and no other link names one.')
  if (linkRoles.indexOf(role) > linkRoles.indexOf(by.role as LinkRole))
    throw new HubError('forbidden', `${by.name} has the role ${by.role} and cannot make a link with the role ${role}.`)
  if (hours === undefined) return
  if (role !== 'guest' && role !== 'observer')
    throw new HubError('wrong', 'A link that can be used more than once only reads: its role is observer or guest.')
  if (!(hours > 0 && hours <= longestHours))
    throw new HubError('wrong', `Found ${hours} hours, allowed: more than 0 and at most ${longestHours}.`)
}

const isTheirs = ({ name }: { name: string }, by: HubCaller) =>
  by.role === 'admin' || (by.role === 'member' && by.name === name)

const listedLink = ({ hash: _, key: __, ...link }: SignInLink): ListedLink => link

const listedSignIn = ({ cookieHash: _, pageHash: __, key: ___, ...signIn }: SignIn): ListedSignIn => signIn
