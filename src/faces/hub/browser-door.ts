import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HubCaller } from '../../core/work/hub-key.ts'
import type { SignIns } from '../../hub/sign-ins.ts'

/** The header in which the page sends the secret that it keeps in the storage of its own origin. */
export const pageHeader = 'x-termaite-page'

/** Browsers keep a cookie for at most this time; the hub itself decides when a sign-in is over. */
const longestCookieMs = 400 * 24 * 3_600_000

/**
 * Lets the browsers of signed-in people in. A cookie alone opens nothing, because cookies ignore ports: a page that an
 * agent's own server shows on another port of this machine sends the cookie too. So every request also carries a secret
 * that only a page of this origin can read, and names no other origin.
 */
export class BrowserDoor {
  #signIns: SignIns
  #publicName: string | undefined

  /** `publicName` is the name of the proxy with TLS in front of the hub. */
  constructor(signIns: SignIns, publicName?: string) {
    this.#signIns = signIns
    this.#publicName = publicName
  }

  /** The caller of a request by its cookie and its page's secret. */
  callerOf(request: IncomingMessage): HubCaller | undefined {
    const cookie = cookieIn(request.headers.cookie ?? '', this.#cookieName(request))
    const page = request.headers[pageHeader]
    if (cookie === undefined || typeof page !== 'string' || !this.isSameOrigin(request)) return undefined
    return this.#signIns.callerOf(cookie, page)
  }

  /**
   * Whether a request comes from a page of this very origin: same scheme, host and port. Browsers leave the header out of
   * requests that only read; the page's secret, which they never send by themselves, speaks for those.
   */
  isSameOrigin(request: IncomingMessage): boolean {
    const { origin } = request.headers
    const site = request.headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin') return false
    if (origin === undefined) return request.method === 'GET' || request.method === 'HEAD'
    return origin === this.#originOf(request)
  }

  /** Gives the cookie of a new sign-in to the browser. */
  setCookie(request: IncomingMessage, response: ServerResponse, cookie: string, lastsMs = longestCookieMs): void {
    const age = Math.max(0, Math.floor(lastsMs / 1000))
    const secure = this.#isPublic(request) ? '; Secure' : ''
    response.setHeader(
      'set-cookie',
      `${this.#cookieName(request)}=${cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${age}${secure}`,
    )
  }

  /** Two hubs on one machine have the same host and different ports, so the port is a part of the cookie's name. */
  #cookieName(request: IncomingMessage): string {
    if (this.#isPublic(request)) return '__Host-termaite'
    return `termaite-${/:(\d+)$/.exec(request.headers.host ?? '')?.[1] ?? '80'}`
  }

  #originOf(request: IncomingMessage): string {
    return `${this.#isPublic(request) ? 'https' : 'http'}://${request.headers.host}`
  }

  #isPublic({ headers: { host = '' } }: IncomingMessage): boolean {
    return this.#publicName !== undefined && host.replace(/:\d+$/, '').toLowerCase() === this.#publicName.toLowerCase()
  }
}

function cookieIn(header: string, name: string): string | undefined {
  for (const part of header.split(';')) {
    const [key = '', ...value] = part.trim().split('=')
    if (key === name) return value.join('=')
  }
  return undefined
}
