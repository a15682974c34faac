import type { Clock } from '../../../base/time/clock.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type {
  LinkRole,
  LinkWish,
  ListedLink,
  ListedSignIn,
  NewLink,
  SignIn,
  SignInBook,
  SignInLink,
} from '../../model/access/sign-in.ts'
import { randomBytes } from 'node:crypto'
import { defined } from '../../../base/defined.ts'
import { linkRoles } from '../../model/access/sign-in.ts'
import { UseTimes } from './use-times.ts'
import { hashOf, isSameHash, newSecret } from './secret.ts'
import { HubError } from '../rules/task-rules.ts'

/** A new sign-in with its two secrets, which only the browser keeps. */
type NewSignIn = { signIn: ListedSignIn; cookie: string; page: string }

const hourMs = 3_600_000
/** A link for one use must be opened soon. */
const onceMs = 10 * 60_000
/** The longest lifetime of a link for several uses, and of a sign-in that nobody uses. */
const longestHours = 30 * 24
const idleMs = longestHours * hourMs
/** Browsers send long names; only this many characters are kept. */
const longestBrowser = 200

/** The most open links that one person may have, and the most signed-in browsers. */
export const mostLinks = 100
export const mostSignIns = 200

/** Called with the id of a sign-in that was closed or expired, and the caller whose request closed it. */
type SignInFollower = (id: string, by: HubCaller | undefined) => void

/** The browsers that are signed in at the hub's page, and the links by which they sign in. */
export class SignIns {
  #book: SignInBook
  #clock: Clock
  #uses: UseTimes
  #followers = new Set<SignInFollower>()

  constructor({ book, clock }: { book: SignInBook; clock: Clock }) {
    this.#book = book
    this.#clock = clock
    this.#uses = new UseTimes({ clock, write: (id, at) => book.markUsed(id, at) })
  }

  /** Makes a link: for one use within ten minutes, or for any number of uses within the given number of hours. */
  async makeLink({ role, session, hours }: LinkWish, by: HubCaller): Promise<NewLink> {
    checkWish({ role, session, hours }, by)
    await this.#sweep()
    // A link made in a browser is revoked together with the key that this browser signed in with.
    const browser = (await this.#book.all()).find(({ id }) => id === by.id)
    const secret = newSecret()
    const now = this.#clock.now()
    const link: SignInLink = defined({
      id: `link-${randomBytes(4).toString('hex')}`,
      name: by.name,
      role,
      session,
      key: browser?.key ?? by.id,
      made: now,
      ends: now + (hours === undefined ? onceMs : hours * hourMs),
      hash: hashOf(secret),
      once: hours === undefined,
    })
    if (!(await this.#book.putLink(link, mostLinks)))
      throw new HubError(
        'conflict',
        `${by.name} has ${mostLinks} open links already. End some of them on the page under Sign-ins.`,
      )
    return { link: listedLink(link), secret }
  }

  /** Signs a browser in by the secret of its link; undefined if the link was used, has expired or never existed. */
  async enter(secret: string, browser: string): Promise<NewSignIn | undefined> {
    await this.#sweep()
    const hash = hashOf(secret)
    const link = (await this.#book.links()).find((each) => isSameHash(each.hash, hash))
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
    if (!(await this.#book.put(signIn))) return undefined
    this.#uses.begin(signIn.id)
    await this.#makeRoom(name, signIn.id)
    return { signIn: listedSignIn(signIn), cookie, page }
  }

  /** The caller that both secrets of a browser belong to. */
  async callerOf(cookie: string, page: string): Promise<HubCaller | undefined> {
    const hash = hashOf(cookie)
    const found = await this.#book.withCookie(hash)
    if (!found || !isSameHash(found.cookieHash, hash) || !isSameHash(found.pageHash, hashOf(page))) return undefined
    if (this.#isOver(found)) return undefined
    this.#uses.use(found.id)
    const { id, name, role, session, ends } = found
    return defined({ id, name, role, session, ends })
  }

  /** The links that a client may see: an admin sees all, every other client its own. */
  async links(by: HubCaller): Promise<ListedLink[]> {
    await this.#sweep()
    return (await this.#book.links()).flatMap((link) => (isTheirs(link, by) ? [listedLink(link)] : []))
  }

  async list(by: HubCaller): Promise<ListedSignIn[]> {
    return (await this.all()).filter((signIn) => isTheirs(signIn, by))
  }

  /** The sign-ins of everybody. */
  async all(): Promise<ListedSignIn[]> {
    await this.#sweep()
    return (await this.#book.all()).map(listedSignIn)
  }

  /** The ids of all sign-ins that are still valid. */
  async holding(): Promise<Set<string>> {
    return new Set((await this.#book.all()).filter((each) => !this.#isOver(each)).map(({ id }) => id))
  }

  /** Ends a sign-in, or a link with all of its sign-ins. A browser can always end its own sign-in. */
  async end(id: string, by: HubCaller): Promise<void> {
    const link = (await this.#book.links()).find((each) => each.id === id)
    const known = await this.#book.all()
    const [first] = [...(link ? [link] : []), ...known.filter((each) => each.id === id || each.link === id)]
    if (!first)
      throw new HubError('missing', `There is no sign-in and no link ${id}. The page lists them under Sign-ins.`)
    if (by.id !== id && !isTheirs(first, by))
      throw new HubError('forbidden', `${id} belongs to ${first.name}: only an admin can end it.`)
    // The link is removed first, so that no browser can sign in with it after the list of sign-ins was read.
    if (link) await this.#book.removeLink(link.id)
    for (const each of await this.#book.all()) if (each.id === id || each.link === id) await this.#remove(each.id, by)
  }

  /** Removes every link and sign-in that was made with a key, because the key was revoked or expired. */
  async endOf(key: string, by: HubCaller): Promise<void> {
    for (const link of await this.#book.links()) if (link.key === key) await this.#book.removeLink(link.id)
    for (const signIn of await this.#book.all()) if (signIn.key === key) await this.#remove(signIn.id, by)
  }

  /** Calls the listener for every sign-in that ends. */
  follow(listener: SignInFollower): void {
    this.#followers.add(listener)
  }

  #isOver({ id, made, ends, used = made }: SignIn): boolean {
    const age = this.#uses.age(id, used)
    return (ends !== undefined && this.#clock.now() >= ends) || age > idleMs
  }

  async #sweep(): Promise<void> {
    const now = this.#clock.now()
    for (const link of await this.#book.links()) if (now >= link.ends) await this.#book.removeLink(link.id)
    for (const signIn of await this.#book.all()) if (this.#isOver(signIn)) await this.#remove(signIn.id, undefined)
  }

  /** Removes the least recently used sign-ins of a person if a shared link has created too many. */
  async #makeRoom(name: string, newest: string): Promise<void> {
    const theirs = (await this.#book.all()).filter((each) => each.name === name && each.id !== newest)
    const ages = theirs.map(({ id, role, made, used = made }) => ({ id, role, age: this.#uses.age(id, used) }))
    // Browsers with read-only access are signed out before those that the person acts with.
    const order = ages.toSorted((a, b) => linkRoles.indexOf(a.role) - linkRoles.indexOf(b.role) || b.age - a.age)
    for (const { id } of order.slice(0, Math.max(0, theirs.length + 1 - mostSignIns))) await this.#remove(id, undefined)
  }

  async #remove(id: string, by: HubCaller | undefined): Promise<void> {
    if (!(await this.#book.remove(id))) return
    this.#uses.forget(id)
    for (const listener of this.#followers) listener(id, by)
  }
}

function checkWish({ role, session, hours }: LinkWish, by: HubCaller): void {
  if ((role === 'guest') !== (session !== undefined))
    throw new HubError('wrong', 'A link for a guest names the session that it shows, and no other link names one.')
  if (linkRoles.indexOf(role) > linkRoles.indexOf(by.role as LinkRole))
    throw new HubError('forbidden', `${by.name} has the role ${by.role} and cannot make a link with the role ${role}.`)
  if (hours === undefined && by.sso)
    throw new HubError(
      'forbidden',
      `${by.name} is signed in by the proxy in front of the hub, and a link would last longer than that. Open the page through the proxy in the other browser, or make a link that only reads and lasts some hours.`,
    )
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
