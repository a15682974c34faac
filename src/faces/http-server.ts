import type { IncomingMessage, ServerResponse, RequestListener } from 'node:http'
import type { Clock } from '../base/clock.ts'
import type { AddressInfo } from 'node:net'
import { createHash, timingSafeEqual } from 'node:crypto'
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node'
import { createServer } from 'node:http'

/** What this machine calls itself; a page that rebinds its name to our address says another. */
export const ownNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Whoever guesses at the key has so many tries at once, and then one in so many seconds. */
const tries = { burst: 20, perSecond: 0.2 }

export type AccessCheck = (request: IncomingMessage, response: ServerResponse) => boolean

export type AccessOptions = { key: string; clock: Clock; names?: readonly string[] }

/** Lets in whoever asks for us by a name of ours with the key; the others are answered here. */
export function accessCheck({ key, clock, names = ownNames }: AccessOptions): AccessCheck {
  const byHost = hostHeaderValidation([...names])
  const byOrigin = originValidation([...names])
  const wanted = digest(`Bearer ${key}`)
  const guesses = new RateLimit(clock, tries.burst, tries.perSecond)
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

/** Equally long whatever was sent, so that the time it takes to compare says nothing. */
const digest = (text: string) => createHash('sha256').update(text).digest()

/** Answers in words; the connection goes, because a body may still be on its way. */
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

/** A pail for each caller: so many at once, and so many more each second. */
export class RateLimit {
  #clock: Clock
  #burst: number
  #perSecond: number
  #pails = new Map<string, { left: number; at: number }>()

  constructor(clock: Clock, burst: number, perSecond: number) {
    this.#clock = clock
    this.#burst = burst
    this.#perSecond = perSecond
  }

  /** Takes one; false when the caller has none left. */
  take(caller: string): boolean {
    const left = this.#left(caller)
    this.#pails.delete(caller)
    this.#pails.set(caller, { left: Math.max(0, left - 1), at: this.#clock.now() })
    // Only callers of late are remembered: an older one has a full pail again.
    if (this.#pails.size > 1_000) this.#pails.delete(this.#pails.keys().next().value!)
    return left >= 1
  }

  /** Whether there is one, without taking it. */
  has(caller: string): boolean {
    return this.#left(caller) >= 1
  }

  #left(caller: string): number {
    const pail = this.#pails.get(caller)
    if (!pail) return this.#burst
    return Math.min(this.#burst, pail.left + ((this.#clock.now() - pail.at) / 1000) * this.#perSecond)
  }
}

export type HttpServer = { url: string; close(): Promise<void> }

/** Answers at an address until it is closed; whoever is still connected then is let go. */
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
