import type { CallerRole } from './hub-key.ts'

/** The rights that a link gives: `guest` reads one session and nothing else. */
export const linkRoles = ['guest', 'observer', 'member', 'admin'] as const satisfies CallerRole[]

export type LinkRole = (typeof linkRoles)[number]

/** The person and the rights that a browser acts with. */
type Rights = {
  /** The name of the person who made the link; everything that the browser does at the hub is kept under it. */
  name: string
  role: LinkRole
  /** The only session that a guest can read. */
  session?: string
  /** The key of the client that made the link: links and sign-ins are revoked with it. */
  key: string
  made: number
}

/** A link by which a browser signs in at the hub's page. The secret in it is kept nowhere. */
export type SignInLink = Rights & {
  id: string
  /** SHA-256 of the secret, in hex. */
  hash: string
  /** Whether the link can be used only once. */
  once: boolean
  /** The time of day at which the link expires. */
  ends: number
}

/** A browser that has signed in. It proves itself by two secrets: a cookie, and one in the storage of the page's own origin. */
export type SignIn = Rights & {
  id: string
  /** The id of the link. */
  link: string
  /** The browser and the system, as the browser names itself. */
  browser: string
  /** SHA-256 of the cookie and of the page's secret, in hex. */
  cookieHash: string
  pageHash: string
  /** The sign-ins of a link for several uses expire with the link. Others last as long as they are used. */
  ends?: number
  /** When the sign-in was last used, to within some minutes. */
  used?: number
}

/** A link and a sign-in as they are listed: without anything that would reveal a secret. */
export type ListedLink = Omit<SignInLink, 'hash' | 'key'>
export type ListedSignIn = Omit<SignIn, 'cookieHash' | 'pageHash' | 'key'>

/** A new link. The secret is shown here once and kept nowhere. */
export type NewLink = { link: ListedLink; secret: string }

/** The wish for a link. A link with `hours` can be used by several browsers until it expires. */
export type LinkWish = { role: LinkRole; session?: string; hours?: number }

/** Stores links and sign-ins. Every change is durable when its promise resolves. */
export interface SignInBook {
  links(): Promise<SignInLink[]>
  /** Stores a link; false when its person has `most` of them already. */
  putLink(link: SignInLink, most: number): Promise<boolean>
  /** False when there is no such link. */
  removeLink(id: string): Promise<boolean>
  all(): Promise<SignIn[]>
  withCookie(hash: string): Promise<SignIn | undefined>
  /**
   * Stores a sign-in and, if its link is for one use, removes that link: both or neither. False if the link is gone, so that of two
   * browsers that open a link for one use at once, one is signed in.
   */
  put(signIn: SignIn): Promise<boolean>
  /** False when there is no such sign-in. */
  remove(id: string): Promise<boolean>
  markUsed(id: string, at: number): Promise<void>
}
