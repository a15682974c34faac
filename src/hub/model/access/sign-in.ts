import type { CallerRole } from './hub-key.ts'

/** The rights that a link gives: `guest` reads one session and nothing else. */
export const linkRoles = ['guest', 'observer', 'member', 'admin'] as const satisfies CallerRole[]

export type LinkRole = (typeof linkRoles)[number]

/** The person in whose name a browser acts, and the rights that it has. */
type Rights = {
  /** The name of the person who made the link; everything that the browser does at the hub is recorded under it. */
  name: string
  role: LinkRole
  /** The only session that a guest can read. */
  session?: string
  /** The key of the client that made the link. Revoking the key also revokes its links and sign-ins. */
  key: string
  made: number
}

/** A link by which a browser signs in at the hub's page. Its secret is stored nowhere. */
export type SignInLink = Rights & {
  id: string
  /** SHA-256 of the secret, in hex. */
  hash: string
  /** Whether the link can be used only once. */
  once: boolean
  /** The wall-clock time at which the link expires. */
  ends: number
}

/** A signed-in browser. It proves its identity with two secrets: a cookie, and a secret in the storage of the page's own origin. */
export type SignIn = Rights & {
  id: string
  /** The id of the link. */
  link: string
  /** The browser and the system, as the browser reports them. */
  browser: string
  /** SHA-256 of the cookie and of the page's secret, in hex. */
  cookieHash: string
  pageHash: string
  /** Set if the link works more than once: the sign-ins expire with the link. Other sign-ins last as long as they are used. */
  ends?: number
  /** When the sign-in was last used, accurate to some minutes. */
  used?: number
}

/** A link and a sign-in as they are listed: without anything that would reveal a secret. */
export type ListedLink = Omit<SignInLink, 'hash' | 'key'>
export type ListedSignIn = Omit<SignIn, 'cookieHash' | 'pageHash' | 'key'>

/** A new link. Its secret is shown once, and stored nowhere. */
export type NewLink = { link: ListedLink; secret: string }

/** A request for a link. With `hours`, several browsers can use the link until it expires. */
export type LinkWish = { role: LinkRole; session?: string; hours?: number }

/** Stores links and sign-ins. Every change is durable when its promise resolves. */
export interface SignInBook {
  links(): Promise<SignInLink[]>
  /** Stores a link; false if its person already has `most` links. */
  putLink(link: SignInLink, most: number): Promise<boolean>
  /** False if there is no such link. */
  removeLink(id: string): Promise<boolean>
  all(): Promise<SignIn[]>
  withCookie(hash: string): Promise<SignIn | undefined>
  /**
   * Stores a sign-in and, if its link is for one use, removes that link: both or neither. False if the link no longer exists, so that of
   * two browsers that open a one-use link at once, only one is signed in.
   */
  put(signIn: SignIn): Promise<boolean>
  /** False if there is no such sign-in. */
  remove(id: string): Promise<boolean>
  markUsed(id: string, at: number): Promise<void>
}
