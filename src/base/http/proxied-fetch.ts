import type { Env } from '../env.ts'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { sendRequest } from './http-request.ts'
import { hasProxy, proxyFor, trustAuthorities } from './http-route.ts'

const mostRedirects = 10

/**
 * Returns a `fetch` that goes through the proxies of the environment and trusts its authorities, for libraries that accept one. For an
 * address without a proxy, the global `fetch` is used.
 */
export function fetchFor(env: Env): typeof fetch {
  return async (input, init) => {
    trustAuthorities(env)
    const request = new Request(input, init)
    const url = new URL(request.url)
    if (!hasProxy(env) || !proxyFor(url, env)) return fetch(input, init)
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
    return follow(url, { request, body, method: request.method, headers: request.headers, env }, mostRedirects)
  }
}

type Sent = { request: Request; method: string; headers: Headers; body: Buffer | undefined; env: Env }

async function follow(url: URL, sent: Sent, left: number): Promise<Response> {
  const { method, body, env, request } = sent
  const answer = await sendRequest(
    url,
    { method, body, headers: Object.fromEntries(sent.headers), signal: request.signal },
    env,
  )
  const status = answer.statusCode ?? 0
  const place = [301, 302, 303, 307, 308].includes(status) ? answer.headers.location : undefined
  if (place === undefined || sent.request.redirect === 'manual') return responseOf(answer)
  answer.resume()
  if (sent.request.redirect === 'error' || left === 0) throw new TypeError(`${url.origin} redirects too often`)
  const next = new URL(place, url)
  const headers = new Headers(sent.headers)
  // A login is only meant for its own server.
  if (next.origin !== url.origin) headers.delete('authorization')
  const again = status === 307 || status === 308 || sent.method === 'GET' || sent.method === 'HEAD'
  const same = again ? { method: sent.method, body: sent.body } : { method: 'GET', body: undefined }
  return follow(next, { ...sent, ...same, headers }, left - 1)
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText } = answer
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) if (value !== undefined) headers.set(name, String(value))
  const empty = [101, 204, 205, 304].includes(status)
  if (empty) answer.resume()
  return new Response(empty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), {
    status,
    statusText,
    headers,
  })
}
