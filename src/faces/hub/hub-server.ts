import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { HttpServer } from '../http-server.ts'
import type { McpEndpoint } from '../mcp/mcp-http.ts'
import type { ChangeFeed } from './change-feed.ts'
import type { HubAnswer, HubRoute } from './hub-router.ts'
import { once } from 'node:events'
import { accessCheck, ownNames, RateLimit, listenHttp } from '../http-server.ts'
import { mcpPath } from '../mcp/mcp-http.ts'
import { eventStreamText } from './change-feed.ts'
import { answerRequest, refusal } from './hub-router.ts'

export type HubServerOptions = {
  host: string
  port: number
  key: string
  /** The name by which a proxy in front of us is asked, where there is one. */
  publicName?: string
  clock: Clock
  routes: readonly HubRoute[]
  changes: ChangeFeed
  mcp: McpEndpoint
}

/** No single caller keeps the hub from the others. */
const calls = { burst: 20_000, perSecond: 5_000 }
/** A stream that says nothing is cut by proxies. */
const beatMs = 15_000

/** The hub at an address: its API, its stream of changes, and MCP beside them. */
export async function serveHub(serving: HubServerOptions): Promise<HttpServer> {
  const { key, clock, publicName, mcp } = serving
  const names = publicName === undefined ? ownNames : [...ownNames, publicName]
  const enter = accessCheck({ key, clock, names })
  const rate = new RateLimit(clock, calls.burst, calls.perSecond)
  const listening = await listenHttp((request, response) => {
    if (!enter(request, response)) return
    if (!rate.take(request.socket.remoteAddress ?? ''))
      return send(response, refusal(429, 'too many requests; wait a moment'), { 'retry-after': '1' })
    const url = new URL(request.url ?? '/', 'http://hub')
    if (url.pathname === mcpPath) return void mcp.answer(request, response)
    const work =
      url.pathname === '/api/events' ? follow(request, response, url, serving) : api(request, response, url, serving)
    // Whoever has gone hears nothing of it.
    void work.catch(() => response.destroy())
  }, serving)
  return {
    url: listening.url,
    async close() {
      await mcp.close()
      await listening.close()
    },
  }
}

async function api(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  { routes }: HubServerOptions,
): Promise<void> {
  const signal = goneOf(request, response)
  const body = await readJsonBody(request)
  if ('refused' in body) return send(response, refusal(body.refused, body.why), { connection: 'close' })
  const asked = { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams, body: body.json }
  send(response, await answerRequest(routes, { ...asked, signal }))
}

/** Every change after the number that the follower names, then what comes. */
async function follow(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  { changes, clock }: HubServerOptions,
): Promise<void> {
  if (request.method !== 'GET') return send(response, refusal(405, `/api/events knows GET, not ${request.method}`))
  const after = Number(request.headers['last-event-id'] ?? url.searchParams.get('after') ?? 0)
  if (!Number.isSafeInteger(after) || after < 0)
    return send(response, refusal(400, 'after must be a whole number from 0 on'))
  const gone = goneOf(request, response)
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  response.write(': hello\n\n')
  void beat(response, clock, gone)
  for await (const change of changes.after(after, gone))
    if (!response.write(eventStreamText(change)) && !gone.aborted)
      await once(response, 'drain', { signal: gone }).catch(() => {})
  response.end()
}

async function beat(response: ServerResponse, clock: Clock, gone: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(beatMs, gone)
    if (gone.aborted) return
    response.write(': still here\n\n')
  }
}

function send(response: ServerResponse, { status, body }: HubAnswer, headers: Record<string, string> = {}): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
  response.end(JSON.stringify(body))
}

/** Aborted as soon as the other end hangs up, also while its request is still read. */
function goneOf({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  // A reason of its own costs less than the error that an abort makes without one.
  const hungUp = () => gone.abort('gone')
  socket.once('end', hungUp)
  response.once('close', () => {
    socket.off('end', hungUp)
    hungUp()
  })
  return gone.signal
}

/** More than any prompt, answer or diff. */
const mostBytes = 4 * 1024 * 1024

export type Body = { json: unknown } | { refused: 400 | 413 | 415; why: string }

/** What was sent, as JSON; nothing sent is nothing. */
export async function readJsonBody(request: IncomingMessage): Promise<Body> {
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > mostBytes) return tooLong
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) return tooLong
    chunks.push(chunk)
  }
  if (size === 0) return { json: undefined }
  // A page elsewhere can send a form without being asked for leave, but never JSON.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    return { refused: 415, why: 'send application/json' }
  try {
    return { json: JSON.parse(Buffer.concat(chunks).toString('utf8')) }
  } catch {
    return { refused: 400, why: 'that is no JSON' }
  }
}

const tooLong: Body = { refused: 413, why: `that is more than ${mostBytes / 1024 / 1024} MB` }
