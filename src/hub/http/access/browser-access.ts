import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { SignIns } from '../../engine/access/sign-ins.ts'
import type { HubFront } from './hub-front.ts'

/** The header in which the page sends the secret from the storage of its own origin. */
const pageHeader = 'x-termaite-page'

/** Browsers keep a cookie for at most this time; the hub itself decides when a sign-in expires. */
const longestCookieMs = 400 * 24 * 3_600_000

/**
 * Admits the browsers of signed-in people. A cookie alone is not enough, because cookies ignore ports: a page that an agent's own server
 * shows on another port of this machine sends the cookie too. So every request also carries a secret that only a page of this origin can
 * read, and names no other origin.
 */
export class BrowserAccess {
  #signIns: SignIns
  #front: HubFront

  constructor(signIns: SignIns, front: HubFront) {
    this.#signIns = signIns
    this.#front = front
  }

  /** The caller of a request by its cookie and its page's secret. */
  async callerOf(request: IncomingMessage): Promise<HubCaller | undefined> {
    const cookies = cookiesIn(request.headers.cookie ?? '', this.#cookieName(request))
    const page = pageSecretIn(request)
    if (page === undefined || !this.isSameOrigin(request)) return undefined
    for (const cookie of cookies) {
      const caller = await this.#signIns.callerOf(cookie, page)
      if (caller) return caller
    }
    return undefined
  }

  /**
   * Whether a request comes from a page of exactly this origin: same scheme, host and port. Browsers omit the header from requests that
   * only read; for those the page's secret, which a browser never sends by itself, is proof enough.
   */
  isSameOrigin(request: IncomingMessage): boolean {
    const { origin } = request.headers
    const site = request.headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin') return false
    // Browsers always name the origin when they open a socket, so a socket without one is not from our page.
    if (origin === undefined) return !isSocket(request) && (request.method === 'GET' || request.method === 'HEAD')
    return origin === this.#front.arrival(request).origin
  }

  /** Gives the cookie of a new sign-in to the browser. */
  setCookie(request: IncomingMessage, response: ServerResponse, cookie: string, lastsMs = longestCookieMs): void {
    const age = Math.max(0, Math.floor(lastsMs / 1000))
    const secure = this.#front.arrival(request).isSecure ? '; Secure' : ''
    response.setHeader(
      'set-cookie',
      `${this.#cookieName(request)}=${cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${age}${secure}`,
    )
  }

  /** Two hubs on one machine have the same host and different ports, so the port is a part of the cookie's name. */
  #cookieName(request: IncomingMessage): string {
    const { isPublic, isSecure } = this.#front.arrival(request)
    if (isPublic) return '__Host-termaite'
    const port = /:(\d+)$/.exec(request.headers.host ?? '')?.[1]
    return isSecure ? `__Host-termaite-${port ?? '443'}` : `termaite-${port ?? '80'}`
  }
}

const isSocket = ({ headers }: IncomingMessage) => headers.upgrade !== undefined

/** The page's secret in a request, which only a script of the page itself can send. */
export function pageSecretIn(request: IncomingMessage): string | undefined {
  const sent = request.headers[pageHeader] ?? socketSecret(request)
  return typeof sent === 'string' ? sent : undefined
}

/**
 * The page's secret in the request for a socket: a page cannot set a header there, so it sends the secret as the last protocol that it
 * offers.
 */
function socketSecret(request: IncomingMessage): string | undefined {
  const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(',')
  return isSocket(request) && offered.length > 1 ? offered.at(-1)!.trim() : undefined
}

/** The most cookies of one name that are checked. */
const mostCookies = 8

/**
 * The cookies with this name. There may be several: a page on another port of this machine can set one for a longer path, which the
 * browser then sends first; that must not lock the person out.
 */
function cookiesIn(header: string, name: string): string[] {
  const all = header.split(';').map((part) => part.trim())
  return all.flatMap((part) => (part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : [])).slice(0, mostCookies)
}
