import type { IncomingMessage, RequestOptions } from 'node:http'
import type { LookupFunction } from 'node:net'
import { isPrivate } from './address.ts'

export type WebRequest = {
  url: URL
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** Whether an address on a private network will do. */
  private: boolean
  signal: AbortSignal
}

export type WebAnswer = { status: number; headers: Record<string, string>; body: Buffer; cut: boolean }

/** One request and its bounded answer; redirects are not followed. Rejects with words. */
export type Fetch = (request: WebRequest) => Promise<WebAnswer>

const mostBytes = 5 * 1024 * 1024

/** Over the network. The address that a name stands for is looked at when it is connected to, so that no name can change in between. */
export const networkFetch: Fetch = async ({ url, method = 'GET', headers, body, private: allowed, signal }) => {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const { isIP } = process.getBuiltinModule('node:net')
  if (!allowed && isIP(host) && isPrivate(host)) throw new Error(privateWords(host))
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const options: RequestOptions = {
    method,
    signal,
    headers: { 'accept-encoding': 'gzip, deflate, br', 'user-agent': 'termaite', ...headers },
    agent: false,
    ...(allowed ? {} : { lookup: publicLookup }),
  }
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    request(url, options, resolve).on('error', reject).end(body),
  )
  const plain = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
  return { status: answer.statusCode ?? 0, headers: Object.fromEntries(plain), ...(await bounded(answer)) }
}

const privateWords = (host: string) => `${host} is on a private network, and those are not fetched from`

const publicLookup: LookupFunction = (host, options, done) => {
  process.getBuiltinModule('node:dns').lookup(host, options, (error, address, family) => {
    const found = Array.isArray(address) ? address.map((one) => one.address) : [address]
    if (!error && found.some(isPrivate)) return done(new Error(privateWords(host)), '', 0)
    done(error, address as string, family)
  })
}

/** The body, unpacked, up to the most that is taken: a small answer may unpack to an endless one. */
async function bounded(answer: IncomingMessage): Promise<{ body: Buffer; cut: boolean }> {
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
