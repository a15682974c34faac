import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { MachineTurns } from '../../core/talk/machine-turns.ts'
import type { HubCaller } from '../../core/work/hub-key.ts'
import type { HubKeys } from '../../hub/hub-keys.ts'
import type { SignIns } from '../../hub/sign-ins.ts'
import type { HttpServer } from '../http-server.ts'
import type { PageFiles } from '../web/page-files.ts'
import type { McpEndpoint } from '../mcp/mcp-http.ts'
import type { ChangeFeed } from './change-feed.ts'
import type { HubAnswer, HubRoute } from './hub-router.ts'
import { once } from 'node:events'
import { RateLimit, WrongKeyCheck, accessCheck, listenHttp, nameCheck, ownNames } from '../http-server.ts'
import { mcpPath } from '../mcp/mcp-http.ts'
import { mayDo } from '../../hub/hub-roles.ts'
import { BrowserDoor } from './browser-door.ts'
import { eventStreamText } from './change-feed.ts'
import { answerRequest, refusal } from './hub-router.ts'

export type HubServerOptions = {
  host: string
  port: number
  keys: HubKeys
  signIns: SignIns
  /** The host name that a proxy in front of the hub is asked by. */
  publicName?: string
  clock: Clock
  routes: readonly HubRoute[]
  changes: ChangeFeed
  mcp: McpEndpoint<HubCaller>
  /** The turns of this machine, for people who may answer them. */
  turns?: MachineTurns
  /** The files of the page; a hub without them serves its API alone. */
  page?: PageFiles
}

/** Requests of one caller, so that none keeps the hub from the others. */
const requests = { burst: 20_000, perSecond: 5_000 }
/** Proxies cut a stream that is silent for longer. */
const heartbeatMs = 15_000

/** Serves the hub at an address: its API, its stream of changes, and MCP beside them. */
export async function serveHub(options: HubServerOptions): Promise<HttpServer> {
  const { keys, signIns, clock, publicName, mcp, page } = options
  const names = publicName === undefined ? ownNames : [...ownNames, publicName]
  const door = new BrowserDoor(signIns, publicName)
  const proxied = publicName !== undefined
  const allowed = accessCheck({
    callerOf: (key) => keys.callerOf(key),
    browserOf: (request) => door.callerOf(request),
    clock,
    names,
    proxied,
  })
  const entry = { door, byName: nameCheck(names), wrong: new WrongKeyCheck(clock, proxied) }
  const limit = new RateLimit(clock, requests.burst, requests.perSecond)
  const open = new Map<HubCaller, ServerResponse>()
  // When a key or a sign-in ends, every wait and stream that began with it is cut.
  const cut = (id: string, by: HubCaller | undefined) => {
    for (const [caller, response] of open) if (caller.id === id && caller !== by) response.destroy()
  }
  signIns.follow(cut)
  keys.follow((id, by) => {
    cut(id, by)
    signIns.endOf(id, by)
  })
  const server = await listenHttp((request, response) => {
    if (page && isPageRequest(request)) {
      if (entry.byName(request, response) && !page.answer(request, response))
        send(response, refusal(404, `there is nothing at ${request.url}`))
      return
    }
    if (request.url === '/api/sign-in') {
      enterBrowser(request, response, entry, options).catch(() => response.destroy())
      return
    }
    const caller = allowed(request, response)
    if (!caller) return
    open.set(caller, response)
    response.once('close', () => open.delete(caller))
    if (!limit.take(caller.id))
      return send(response, refusal(429, 'too many requests; wait a moment'), { 'retry-after': '1' })
    const url = new URL(request.url ?? '/', 'http://hub')
    if (url.pathname === mcpPath) {
      // The endpoint answers its own errors.
      void mcp.answer(request, response, caller)
      return
    }
    const work =
      url.pathname === '/api/events'
        ? streamChanges(request, response, { url, caller }, options)
        : answerApi(request, response, { url, caller }, options)
    // Not awaited by the server's listener; a caller that has closed its connection gets no answer.
    work.catch(() => response.destroy())
  }, options)
  return {
    url: server.url,
    async close() {
      await mcp.close()
      await server.close()
    },
  }
}

/** The page's files are everything that is neither the API nor MCP. */
const isPageRequest = ({ method, url = '/' }: IncomingMessage) =>
  (method === 'GET' || method === 'HEAD') && !url.startsWith('/api/') && url.split('?')[0] !== mcpPath

type Entry = { door: BrowserDoor; byName: ReturnType<typeof nameCheck>; wrong: WrongKeyCheck }

const linkIsOver =
  'This link was used already, or its time is over. Make a new one with: termaite dashboard (or /dashboard in the chat).'

/** Signs a browser in: the secret of a link becomes a cookie, and a secret that the page keeps itself. */
async function enterBrowser(
  request: IncomingMessage,
  response: ServerResponse,
  { door, byName, wrong }: Entry,
  { signIns, clock }: HubServerOptions,
): Promise<void> {
  if (!byName(request, response)) return
  if (request.method !== 'POST') return send(response, refusal(405, `/api/sign-in accepts POST, not ${request.method}`))
  if (!door.isSameOrigin(request))
    return send(response, refusal(403, 'a browser signs in from the page of the hub itself'))
  const body = await readJsonBody(request)
  if ('refused' in body) return send(response, refusal(body.refused, body.why), { connection: 'close' })
  const { link } = (body.json ?? {}) as { link?: unknown }
  const entered = typeof link === 'string' ? signIns.enter(link, request.headers['user-agent'] ?? '') : undefined
  if (!entered) {
    if (wrong.allows(request, response)) send(response, refusal(401, linkIsOver))
    return
  }
  const { cookie, page, signIn } = entered
  door.setCookie(request, response, cookie, signIn.ends === undefined ? undefined : signIn.ends - clock.now())
  send(response, { status: 200, body: { page, signIn } })
}

async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  { url, caller }: { url: URL; caller: HubCaller },
  { routes }: HubServerOptions,
): Promise<void> {
  const signal = hangUpSignal(request, response)
  const body = await readJsonBody(request)
  if ('refused' in body) return send(response, refusal(body.refused, body.why), { connection: 'close' })
  const method = request.method ?? 'GET'
  const asked = { method, path: url.pathname, query: url.searchParams, body: body.json, caller, signal }
  send(response, await answerRequest(routes, asked))
}

/** Streams every change after the number that the follower names, and then each new one. */
async function streamChanges(
  request: IncomingMessage,
  response: ServerResponse,
  { url, caller }: { url: URL; caller: HubCaller },
  { changes, clock, turns }: HubServerOptions,
): Promise<void> {
  if (!mayDo(caller.role, 'read')) return send(response, refusal(403, 'this key may not read changes'))
  if (request.method !== 'GET') return send(response, refusal(405, `/api/events accepts GET, not ${request.method}`))
  const after = Number(request.headers['last-event-id'] ?? url.searchParams.get('after') ?? 0)
  if (!Number.isSafeInteger(after) || after < 0)
    return send(response, refusal(400, 'after must be a whole number from 0 on'))
  const hungUp = hangUpSignal(request, response)
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  response.write(': hello\n\n')
  // Ends with the connection, so nothing waits for it.
  void sendHeartbeats(response, clock, hungUp)
  // A turn whose questions are shown to somebody waits for the answer, so they are shown only to people who can give one.
  if (turns && url.searchParams.has('turns') && mayDo(caller.role, 'turns')) void sendTurns(response, turns, hungUp)
  for await (const change of changes.after(after, hungUp))
    if (!response.write(eventStreamText(change)) && !hungUp.aborted)
      await once(response, 'drain', { signal: hungUp }).catch(() => {})
  response.end()
}

/** Streams the turns of this machine. They have no number: a follower that comes back is told of all of them again. */
async function sendTurns(response: ServerResponse, turns: MachineTurns, hungUp: AbortSignal): Promise<void> {
  for await (const change of turns.follow(hungUp))
    if (!response.write(`event: ${change.type}\ndata: ${JSON.stringify(change)}\n\n`) && !hungUp.aborted)
      await once(response, 'drain', { signal: hungUp }).catch(() => {})
}

async function sendHeartbeats(response: ServerResponse, clock: Clock, hungUp: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(heartbeatMs, hungUp)
    if (hungUp.aborted) return
    response.write(': still here\n\n')
  }
}

function send(response: ServerResponse, { status, body }: HubAnswer, headers: Record<string, string> = {}): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
  response.end(JSON.stringify(body))
}

/** A signal that aborts as soon as the caller hangs up, also while its request is still read. */
function hangUpSignal({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  // Naming a reason costs less than the error that an abort makes without one.
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

type JsonBody = { json: unknown } | { refused: 400 | 413 | 415; why: string }

const tooLong: JsonBody = { refused: 413, why: `the body is larger than ${mostBytes / 1024 / 1024} MB` }

/** Reads a body as JSON; an empty body is undefined. */
async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
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
  // A web page of another site can send a form without permission, but never JSON.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    return { refused: 415, why: 'the body must be sent as application/json' }
  try {
    return { json: JSON.parse(Buffer.concat(chunks).toString('utf8')) }
  } catch {
    return { refused: 400, why: 'the body is not valid JSON' }
  }
}
