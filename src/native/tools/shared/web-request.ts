import type { Env } from '../../../base/env.ts'
import type { IncomingMessage, RequestOptions } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { Clock } from '../../../base/time/clock.ts'
import type { BlockList } from 'node:net'
import { routeTo } from '../../../base/http/http-route.ts'
import { callAfter } from '../../../base/time/clock.ts'
import { messageOf } from '../../../base/error-message.ts'

export type WebRequest = {
  url: URL
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** Whether an address on a private network is allowed. */
  private: boolean
  signal: AbortSignal
}

export type WebAnswer = { status: number; headers: Record<string, string>; body: Buffer; cut: boolean }

/** Sends one request and returns its answer, cut at a limit; does not follow redirects. Rejects with a message for the model. */
export type Fetch = (request: WebRequest) => Promise<WebAnswer>

const mostBytes = 5 * 1024 * 1024

/**
 * Fetches over the network, through the proxy that the environment names. A name's address is checked at the moment of the connection, so
 * that it cannot change in between. A proxy looks names up itself: a name that this machine knows as private is then refused, and one
 * that this machine cannot look up is left to the proxy.
 */
export const networkFetch =
  (env: Env): Fetch =>
  async ({ url, method = 'GET', headers, body, private: allowed, signal }) => {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const { isIP } = process.getBuiltinModule('node:net')
    if (!allowed && isIP(host) && isPrivate(host)) throw new Error(privateWords(host))
    const route = routeTo(url, env)
    if (route.proxy !== undefined && !allowed) await refusePrivate(host)
    const { request } = process.getBuiltinModule(route.module)
    const straight = route.proxy === undefined
    const options: RequestOptions = {
      method,
      signal,
      agent: false,
      lookup: allowed || !straight ? undefined : publicLookup,
      ...route.options,
      headers: { 'accept-encoding': 'gzip, deflate, br', 'user-agent': 'termaite', ...headers, ...route.headers },
    }
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      request(url, options, resolve).on('error', reject).end(body),
    )
    const plain = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
    return { status: answer.statusCode ?? 0, headers: Object.fromEntries(plain), ...(await unpackBody(answer)) }
  }

const privateWords = (host: string) => `${host} is on a private network, which is not allowed`

async function refusePrivate(host: string): Promise<void> {
  const found = await process
    .getBuiltinModule('node:dns')
    .promises.lookup(host, { all: true })
    .catch(() => [])
  if (found.some(({ address }) => isPrivate(address))) throw new Error(privateWords(host))
}

const publicLookup: LookupFunction = (host, options, done) => {
  process.getBuiltinModule('node:dns').lookup(host, options, (error, address, family) => {
    const found = Array.isArray(address) ? address.map((one) => one.address) : [address]
    if (!error && found.some(isPrivate)) return done(new Error(privateWords(host)), '', 0)
    done(error, address, family)
  })
}

/** Unpacks the body up to a limit, because a small answer may unpack to an endless one. */
async function unpackBody(answer: IncomingMessage): Promise<{ body: Buffer; cut: boolean }> {
  const { createBrotliDecompress, createUnzip } = await import('node:zlib')
  const packed = answer.headers['content-encoding']
  const unpack =
    packed === 'br' ? createBrotliDecompress() : packed && packed !== 'identity' ? createUnzip() : undefined
  const stream = unpack ? answer.on('error', (error) => unpack.destroy(error)).pipe(unpack) : answer
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > mostBytes) break
    }
  } finally {
    answer.destroy()
  }
  return { body: Buffer.concat(chunks).subarray(0, mostBytes), cut: bytes > mostBytes }
}

/** Address ranges outside the public network: loopback, private, link-local, shared and reserved. */
const ranges: [string, number, 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  // IPv6 forms of IPv4 addresses, which may stand for any of the ranges above; those with `::ffff:` are checked as IPv4.
  ['::', 96, 'ipv6'],
  ['::ffff:0:0:0', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['2001::', 23, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  // Discarded, documentation, unique local, link-local, site-local, multicast.
  ['100::', 64, 'ipv6'],
  ['2001:db8::', 32, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
]

let list: BlockList | undefined

/** Whether an address belongs to this machine or its own network. */
export function isPrivate(address: string): boolean {
  const { BlockList, isIP } = process.getBuiltinModule('node:net')
  if (!list) {
    list = new BlockList()
    for (const [net, bits, family] of ranges) list.addSubnet(net, bits, family)
  }
  const bare = address.replace(/%.*$/, '')
  const family = isIP(bare)
  // Text that is not an address is treated as private.
  return family === 0 || list.check(bare, family === 6 ? 'ipv6' : 'ipv4')
}

const longestMs = 30_000

/** Runs a request until the call is cancelled or the time is up; every failure becomes a message for the model. */
export async function withTimeLimit<T>(
  what: string,
  outer: AbortSignal,
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const late = new AbortController()
  callAfter(clock, longestMs, over.signal, () => late.abort())
  try {
    outer.throwIfAborted()
    return await work(AbortSignal.any([outer, late.signal]))
  } catch (error) {
    if (outer.aborted) throw new Error('cancelled.')
    if (late.signal.aborted && !over.signal.aborted)
      throw new Error(`${what} did not answer within ${longestMs / 1000} s. Try again later, or go on without it.`)
    throw new Error(`${what} could not be reached: ${messageOf(error)}.`)
  } finally {
    over.abort()
  }
}
