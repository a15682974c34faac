import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../base/time/clock.ts'
import type { TlsFiles } from './tls-files.ts'
import type { WrongKeys } from './wrong-keys.ts'
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { plainAddress } from '../../base/http/address-ranges.ts'
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node'

/** The path at which our servers speak MCP. */
export const mcpPath = '/mcp'

export type HttpServer = { url: string; port: number; close(): Promise<void> }

/** How long a caller may take to send its headers and its whole request. The answer may take any time. */
export type Patience = { headersMs: number; requestMs: number }

const tlsManner = { minVersion: 'TLSv1.2', handshakeTimeout: 10_000 } as const

const usualPatience: Patience = { headersMs: 10_000, requestMs: 120_000 }

/** Answers a request. An error in it cuts the connection, because there is nobody else to report it to. */
type Answerer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

type ListenOptions = {
  host: string
  port: number
  /** The certificate with which the server provides HTTPS; `tell` reports an unusable one. */
  tls?: TlsFiles
  clock?: Clock
  tell?(words: string): void
  patience?: Patience
  /** Handles a connection that asks to become a WebSocket. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
}

/** Listens at an address until it is closed; connections that are still open then are cut. */
export async function listenHttp(
  answer: Answerer,
  { host, port, tls, clock, tell = () => {}, patience = usualPatience, upgrade }: ListenOptions,
): Promise<HttpServer> {
  const { headersMs, requestMs } = patience
  const limits = { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: headersMs / 2 }
  // Clients that offer HTTP/2 with the same header get a normal answer.
  const isSocket = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket'
  // An error in the answer to one request must not stop the server for everybody.
  const guarded: RequestListener = (request, response) => {
    ;(async () => answer(request, response))().catch(() => response.destroy())
  }
  const manner = { ...limits, shouldUpgradeCallback: isSocket }
  const over = new AbortController()
  let server: Server
  if (tls) {
    const secure = createTlsServer({ ...manner, ...tls.pair, ...tlsManner }, guarded)
    // The server uses a renewed certificate from the next connection on; open connections are not affected.
    const renew = () => secure.setSecureContext({ ...tls.pair, minVersion: tlsManner.minVersion })
    if (clock) void tls.follow(clock, over.signal, renew, tell)
    server = secure
  } else server = createServer(manner, guarded)
  // Nothing else keeps track of a connection that has not finished its handshake.
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  if (upgrade)
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      upgrade(request, socket, head).catch(() => socket.destroy())
    })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    async close() {
      over.abort('closed')
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Names of this machine for itself. A web page that rebinds its own name to our address sends another name. */
export const ownNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Returns the caller of a request that may proceed; any other request has already been answered. */
type AccessCheck<Caller> = (request: IncomingMessage, response: ServerResponse) => Promise<Caller | undefined>

export type AccessOptions<Caller> = {
  /** The client that a key belongs to; undefined for an unknown key. */
  callerOf(key: string): Promise<Caller | undefined>
  /** The client whose browser sends a request without a key; undefined if the browser is not signed in. */
  browserOf?(request: IncomingMessage): Promise<Caller | undefined>
  wrong: WrongKeys
  /** Whether a request names this server; if not, it has already been answered. */
  isForUs?(request: IncomingMessage, response: ServerResponse): boolean
  addressOf?(request: IncomingMessage): string
}

/**
 * Admits requests that name this machine as their host and contain a known key. A known key is admitted at once, whatever others have
 * sent from the same address: only wrong keys have to wait.
 */
export function accessCheck<Caller>(options: AccessOptions<Caller>): AccessCheck<Caller> {
  const { callerOf, browserOf, wrong, isForUs = nameCheck(ownNames), addressOf = peerOf } = options
  return async (request, response) => {
    if (!isForUs(request, response)) return undefined
    const key = bearerIn(request)
    const known = request.headers.authorization === undefined ? await browserOf?.(request) : undefined
    const caller = key === undefined ? known : await callerOf(key)
    if (caller !== undefined) return caller
    if (key === undefined || mayTryAgain(wrong, response, addressOf(request), key))
      refuseRequest(response, 401, 'the key is missing or wrong: send it as "Authorization: Bearer <key>"', {
        'www-authenticate': 'Bearer realm="termaite"',
      })
    return undefined
  }
}

const peerOf = ({ socket }: IncomingMessage) => plainAddress(socket.remoteAddress ?? '')

/** Counts a wrong key; false when its sender has to wait, and has got that answer. */
export function mayTryAgain(wrong: WrongKeys, response: ServerResponse, address: string, key: string): boolean {
  const seconds = wrong.count(address, key)
  if (seconds === 0) return true
  refuseRequest(response, 429, `too many wrong keys were sent; try again in ${seconds} s`, {
    'retry-after': String(seconds),
  })
  return false
}

/** The key that a request carries. */
export const bearerIn = ({ headers }: IncomingMessage): string | undefined =>
  /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]

/** Admits requests that name this machine as their host and their origin; if it returns false, the request has been answered. */
function nameCheck(names: readonly string[]): (request: IncomingMessage, response: ServerResponse) => boolean {
  const byHost = hostHeaderValidation([...names])
  const byOrigin = originValidation([...names])
  return (request, response) => byHost(request, response) && byOrigin(request, response)
}

/** A hash has the same length for every key, so the time of the comparison reveals nothing about the right key. */
const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares a key with the right one in constant time. */
export const isSameKey = (key: string, right: string) => timingSafeEqual(digest(key), digest(right))

/**
 * Answers with an error and closes the connection, because a body may still be arriving. A client of MCP gets the error in the form of
 * JSON-RPC, every other one as `{"error": "…"}`, like every refusal of the API.
 */
export function refuseRequest(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  const own = { 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' }
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...own, ...headers })
  const isMcp = response.req.url?.split('?')[0] === mcpPath
  response.end(
    JSON.stringify(isMcp ? { jsonrpc: '2.0', error: { code: -32000, message }, id: null } : { error: message }),
  )
}

/** How many callers are remembered; the limit keeps one caller under many names from filling the memory. */
const mostCallers = 1_000

/** Removes the oldest entry if there are too many. */
function dropOldest(callers: Map<string, unknown>): void {
  const [oldest] = callers.keys()
  if (oldest !== undefined && callers.size > mostCallers) callers.delete(oldest)
}

/** Limits each caller to a burst of requests and then a steady number per second. */
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

  /** Counts a request; false if the caller has no requests left. */
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
