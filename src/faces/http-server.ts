import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node'

export type HttpServer = { url: string; close(): Promise<void> }

/** Listens at an address until it is closed; connections that are still open then are cut. */
export async function listenHttp(
  answer: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<HttpServer> {
  const server = createServer(answer)
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

/** Wrong keys that one caller may send: 20 at once, then one every five seconds. */
const wrongKeys = { burst: 20, perSecond: 0.2 }

/** Whether a request may go on; one that may not has been answered already. */
type AccessCheck = (request: IncomingMessage, response: ServerResponse) => boolean

type AccessOptions = { key: string; clock: Clock; names?: readonly string[] }

/** Lets requests in that name this machine as their host and carry the key. */
export function accessCheck({ key, clock, names = ownNames }: AccessOptions): AccessCheck {
  const byHost = hostHeaderValidation([...names])
  const byOrigin = originValidation([...names])
  const wanted = digest(`Bearer ${key}`)
  const guesses = new RateLimit(clock, wrongKeys.burst, wrongKeys.perSecond)
  return (request, response) => {
    if (!byHost(request, response) || !byOrigin(request, response)) return false
    const caller = request.socket.remoteAddress ?? ''
    if (!guesses.has(caller))
      return refuseRequest(response, 429, 'too many wrong keys; wait a moment', { 'retry-after': '5' })
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), wanted)) return true
    guesses.take(caller)
    const words = 'the key is missing or wrong: send it as "Authorization: Bearer <key>"'
    return refuseRequest(response, 401, words, { 'www-authenticate': 'Bearer realm="termaite"' })
  }
}

/** Has the same length for every key, so that the time of the comparison tells nothing about the right one. */
const digest = (text: string) => createHash('sha256').update(text).digest()

/** Answers with an error and closes the connection, because a body may still be on its way. */
export function refuseRequest(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): false {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
  return false
}

/** Callers that are remembered; an older one has its whole burst again anyway. */
const mostCallers = 1_000

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
    this.#callers.set(caller, { left: Math.max(0, left - 1), at: this.#clock.now() })
    const [oldest] = this.#callers.keys()
    if (oldest !== undefined && this.#callers.size > mostCallers) this.#callers.delete(oldest)
    return left >= 1
  }

  /** Whether the caller has a request left, without counting one. */
  has(caller: string): boolean {
    return this.#left(caller) >= 1
  }

  #left(caller: string): number {
    const known = this.#callers.get(caller)
    if (!known) return this.#burst
    return Math.min(this.#burst, known.left + ((this.#clock.now() - known.at) / 1000) * this.#perSecond)
  }
}
