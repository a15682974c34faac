import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { isIP } from 'node:net'
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node'

export type HttpServer = { url: string; close(): Promise<void> }

/** How long a caller may take to send its headers and its whole request. The answer may take as long as it needs. */
export type Patience = { headersMs: number; requestMs: number }

const usualPatience: Patience = { headersMs: 10_000, requestMs: 120_000 }

/** Listens at an address until it is closed; connections that are still open then are cut. */
export async function listenHttp(
  answer: RequestListener,
  { host, port, patience = usualPatience }: { host: string; port: number; patience?: Patience },
): Promise<HttpServer> {
  const { headersMs, requestMs } = patience
  const limits = { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: headersMs / 2 }
  const server = createServer(limits, answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Names of this machine for itself. A web page that rebinds its own name to our address sends another one. */
export const ownNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Returns the caller of a request that may go on; a request that may not has been answered already. */
type AccessCheck<Caller> = (request: IncomingMessage, response: ServerResponse) => Caller | undefined

export type AccessOptions<Caller> = {
  /** The client that a key belongs to; undefined for a key that is not known. */
  callerOf(key: string): Caller | undefined
  /** The client whose browser sends a request that carries no key; undefined where the browser is not signed in. */
  browserOf?(request: IncomingMessage): Caller | undefined
  clock: Clock
  names?: readonly string[]
  /** Whether a proxy in front of the server says in X-Forwarded-For where a request comes from. */
  proxied?: boolean
}

/**
 * Lets requests in that name this machine as their host and carry a known key. A known key is let in at once, whatever
 * others have sent from the same address: only wrong keys have to wait.
 */
export function accessCheck<Caller>(options: AccessOptions<Caller>): AccessCheck<Caller> {
  const { callerOf, browserOf, clock, names = ownNames, proxied = false } = options
  const byName = nameCheck(names)
  const wrongKeys = new WrongKeyCheck(clock, proxied)
  return (request, response) => {
    if (!byName(request, response)) return undefined
    const { authorization } = request.headers
    const key = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    const known = authorization === undefined ? browserOf?.(request) : undefined
    const caller = key === undefined ? known : callerOf(key)
    if (caller !== undefined) return caller
    if (wrongKeys.allows(request, response))
      refuseRequest(response, 401, 'the key is missing or wrong: send it as "Authorization: Bearer <key>"', {
        'www-authenticate': 'Bearer realm="termaite"',
      })
    return undefined
  }
}

/** Lets requests go on that name this machine as their host and their origin; others have been answered when it returns false. */
export function nameCheck(names: readonly string[]): (request: IncomingMessage, response: ServerResponse) => boolean {
  const byHost = hostHeaderValidation([...names])
  const byOrigin = originValidation([...names])
  return (request, response) => byHost(request, response) && byOrigin(request, response)
}

/** Answers the requests of addresses that have sent too many wrong keys or links. */
export class WrongKeyCheck {
  #keys: WrongKeys
  #proxied: boolean

  constructor(clock: Clock, proxied: boolean) {
    this.#keys = new WrongKeys(clock)
    this.#proxied = proxied
  }

  /** Counts a wrong key; false when its address has to wait, and has been told so. */
  allows(request: IncomingMessage, response: ServerResponse): boolean {
    const seconds = this.#keys.count(addressOf(request, this.#proxied))
    if (seconds === 0) return true
    refuseRequest(response, 429, `too many wrong keys came from your address; try again in ${seconds} s`, {
      'retry-after': String(seconds),
    })
    return false
  }
}

/** A hash has the same length for every key, so the time of the comparison reveals nothing about the right one. */
const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares a key with the right one in a time that does not depend on either. */
export const isSameKey = (key: string, right: string) => timingSafeEqual(digest(key), digest(right))

/** Wrong keys that an address may send before it has to wait. */
const freeTries = 10
const longestWaitSeconds = 60
/** An address that sends no wrong key for this long has all its free tries again. */
const forgetMs = 10 * 60_000

/** Counts the wrong keys of each address: after the free tries each further one is followed by a longer wait. */
export class WrongKeys {
  #clock: Clock
  /** The address that was counted last is last. */
  #addresses = new Map<string, { count: number; at: number; until: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#addresses.size
  }

  /** Counts a wrong key; returns how many seconds the address has to wait, 0 where it has not. */
  count(address: string): number {
    const now = this.#clock.elapsed()
    const known = this.#addresses.get(address)
    if (known && now < known.until) return Math.ceil((known.until - now) / 1000)
    const count = known && now - known.at < forgetMs ? known.count + 1 : 1
    const wait = count < freeTries ? 0 : Math.min(longestWaitSeconds, 2 ** (count - freeTries))
    this.#addresses.delete(address)
    this.#addresses.set(address, { count, at: now, until: now + wait * 1000 })
    dropOldest(this.#addresses)
    return 0
  }
}

/** The address that a request comes from. One IPv6 network counts as one address, because its owner can use all of it. */
function addressOf({ socket, headers }: IncomingMessage, proxied: boolean): string {
  // The proxy adds the address that it sees at the end; everything before it was sent by the client.
  const told = proxied
    ? String(headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)!
        .trim()
    : ''
  const address = (isIP(told) === 0 ? (socket.remoteAddress ?? '') : told).replace(/^::ffff:(?=[\d.]+$)/i, '')
  if (isIP(address) !== 6) return address
  const [before = '', after = ''] = address.split('::')
  const groups = [before, after].map((half) => (half === '' ? [] : half.split(':')))
  const zeros = address.includes('::') ? Array<string>(8 - groups[0]!.length - groups[1]!.length).fill('0') : []
  return [...groups[0]!, ...zeros, ...groups[1]!].slice(0, 4).join(':')
}

/** Answers with an error and closes the connection, because a body may still be on its way. */
export function refuseRequest(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
}

/** Callers that are remembered, so that a caller under many names cannot fill the memory. */
const mostCallers = 1_000

/** Forgets the entry that was set first when there are too many. */
function dropOldest(callers: Map<string, unknown>): void {
  const [oldest] = callers.keys()
  if (oldest !== undefined && callers.size > mostCallers) callers.delete(oldest)
}

/** Limits each caller to a burst of requests and a steady number per second after it. */
export class RateLimit {
  #clock: Clock
  #burst: number
  #perSecond: number
  #callers = new Map<string, { left: number; at: number }>()

  constructor(clock: Clock, burst: number, perSecond: number) {
    this.#clock = clock
    this.#burst = burst
    this.#perSecond = perSecond
  }

  /** Counts a request; false when the caller has none left. */
  take(caller: string): boolean {
    const left = this.#left(caller)
    this.#callers.delete(caller)
    this.#callers.set(caller, { left: Math.max(0, left - 1), at: this.#clock.elapsed() })
    dropOldest(this.#callers)
    return left >= 1
  }

  #left(caller: string): number {
    const known = this.#callers.get(caller)
    if (!known) return this.#burst
    return Math.min(this.#burst, known.left + ((this.#clock.elapsed() - known.at) / 1000) * this.#perSecond)
  }
}
