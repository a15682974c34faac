import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../base/time/clock.ts'
import type { MachineTerminals } from '../../core/screen/machine-terminals.ts'
import type { HubCaller } from '../model/access/hub-key.ts'
import type { AuditTrail } from '../engine/audit-trail.ts'
import type { HubKeys } from '../engine/access/hub-keys.ts'
import type { Invites } from '../engine/access/invites.ts'
import type { SignIns } from '../engine/access/sign-ins.ts'
import type { SsoPeople } from '../engine/sso-people.ts'
import type { AddressRanges } from '../../base/http/address-ranges.ts'
import type { HubVitals } from '../model/tasks/hub-vitals.ts'
import type { HttpServer } from '../../wire/http/http-server.ts'
import type { McpEndpoint } from '../../wire/mcp/mcp-http.ts'
import type { StreamParts } from './event-streams.ts'
import type { FrontOptions } from './access/hub-front.ts'
import type { HubRelays } from './hub-relays.ts'
import type { MachineLinks } from './machine-links.ts'
import type { HubRoute } from './access/hub-router.ts'
import type { SsoRules } from './access/sso-access.ts'
import { ServerResponse } from 'node:http'
import { defined } from '../../base/defined.ts'
import { LedgerAway } from '../model/ledger-away.ts'
import { checkRole } from '../engine/access/hub-roles.ts'
import { mayDo, rights } from '../model/access/rights.ts'
import { HubError } from '../engine/rules/task-rules.ts'
import { RateLimit, accessCheck, bearerIn, listenHttp, refuseRequest } from '../../wire/http/http-server.ts'
import { WrongKeys } from '../../wire/http/wrong-keys.ts'
import { serverPaths } from './access/server-paths.ts'
import { BrowserAccess } from './access/browser-access.ts'
import { HubFront } from './access/hub-front.ts'
import { HubMetrics } from './access/hub-metrics.ts'
import { joinMachine, signInBrowser } from './access/key-exchange.ts'
import { OpenRequests } from './access/open-requests.ts'
import { OperatorAccess } from './access/operator-access.ts'
import { SsoAccess } from './access/sso-access.ts'
import { streamChanges, streamConversation } from './event-streams.ts'
import { hangUpSignal, readJsonBody, send, sendCompressed, streamText } from './access/hub-answers.ts'
import { answerRequest, faultAnswer, paramsIn, refusal, StreamedText, takesPieces } from './access/hub-router.ts'
import { TerminalSockets } from './terminal-socket.ts'

/** The parts that decide who is admitted, and who may read without a key. */
type AccessParts = FrontOptions & {
  clock: Clock
  keys: HubKeys
  signIns: SignIns
  /** Invitations for agent machines, which have no key yet. */
  invites?: Invites
  /** How the proxy tells the hub whom it has signed in; without it no header is trusted. */
  sso?: SsoRules
  vitals?: HubVitals
  metricsFrom?: AddressRanges
  version?: string
}

/** The parts of the hub that admitted callers reach. */
type CallerParts = StreamParts & {
  routes: readonly HubRoute[]
  mcp: McpEndpoint<HubCaller>
  /** Records the acts of clients. */
  trail?: AuditTrail
  /** Remembers the people whom a proxy signs in. */
  people?: Pick<SsoPeople, 'came'>
}

/** The parts that handle connections which become sockets. */
type SocketParts = {
  /** The terminals of all machines, for people who may see them. */
  terminals?: MachineTerminals
  /** The machines that are linked to the hub, and the other hubs of its ledger. */
  links?: MachineLinks
  relays?: HubRelays
}

/** Everything that a hub serves. `tell` reports failures that belong to no request to the person who runs the hub. */
export type HubParts = AccessParts & CallerParts & SocketParts & { tell?(words: string): void }

/** A running hub server. `localUrl` is the address for programs on this machine, which connect without TLS. */
type ServedHub = HttpServer & { localUrl: string }

/** The rate limit of one caller, so that no caller blocks the others. */
const requests = { burst: 20_000, perSecond: 5_000 }

/** Serves the hub at an address: its API, its stream of changes, and MCP beside them. */
export async function serveHub(options: HubParts & { host: string; port: number }): Promise<ServedHub> {
  const { mcp, links, relays } = options
  const doors = openDoors(options)
  const { metrics, sockets, open } = doors
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    metrics.count((request.url ?? '/').split('?')[0]!, response)
    try {
      await answerAnyone(request, response, doors, options)
    } catch (error) {
      sendFault(response, error)
    }
  }
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    acceptSocket(request, socket, head, doors, options)
  const server = await listenHttp(answer, { ...options, upgrade })
  // The commands of this machine's own person use its key, which never leaves the machine, so they need no certificate.
  const local = options.tls ? await listenHttp(answer, { host: '127.0.0.1', port: 0, upgrade }) : undefined
  const over = new AbortController()
  void open.cutEnded(over.signal)
  return {
    ...server,
    localUrl: local?.url ?? server.url,
    async close() {
      over.abort('closed')
      await mcp.close()
      sockets?.close()
      relays?.close()
      await links?.close()
      await Promise.all([server.close(), local?.close()])
    },
  }
}

/** The parts that find out who sends a request, enforce the callers' limits, and track which requests are open. */
type HubDoors = ReturnType<typeof openDoors>

function openDoors(options: AccessParts & Pick<SocketParts, 'terminals' | 'links'>) {
  const { keys, signIns, clock, sso, vitals, metricsFrom, version = '', terminals, links } = options
  const front = new HubFront(options)
  const door = new BrowserAccess(signIns, front)
  const people = sso && new SsoAccess(sso, { front, browsers: door, clock })
  const wrong = new WrongKeys(clock)
  const callerWithoutKey = async (request: IncomingMessage) => people?.callerOf(request) ?? door.callerOf(request)
  const allowed = accessCheck({
    callerOf: (key) => keys.callerOf(key),
    browserOf: callerWithoutKey,
    wrong,
    isForUs: () => true,
    addressOf: (request) => front.arrival(request).address,
  })
  const limit = new RateLimit(clock, requests.burst, requests.perSecond)
  const sockets = terminals && new TerminalSockets({ terminals, clock })
  const metrics = new HubMetrics(version, () => sockets?.size ?? 0)
  const open = new OpenRequests({ keys, signIns, clock, allowed })
  // When a key or a sign-in is revoked, every wait, stream and socket that began with it is cut.
  const cut = (id: string, by: HubCaller | undefined) => {
    open.cut(id, by)
    sockets?.cut(id)
    links?.cut(id)
  }
  signIns.follow(cut)
  keys.follow((id, by) => {
    cut(id, by)
    return signIns.endOf(id, by)
  })
  const operators = new OperatorAccess(defined({ front, metrics, vitals, metricsFrom, clock }))
  return { keys, clock, front, door, wrong, callerWithoutKey, allowed, limit, sockets, metrics, open, operators }
}

/** Whether a request arrived in an accepted way; if not, it has been answered. */
function isForUs(front: HubFront, request: IncomingMessage, response: ServerResponse): boolean {
  const arrival = front.of(request)
  if ('refused' in arrival) refuseRequest(response, 403, arrival.refused)
  return !('refused' in arrival)
}

/** Answers requests that need no key (probes, the page, signing in, joining), and everything else for admitted callers. */
async function answerAnyone(
  request: IncomingMessage,
  response: ServerResponse,
  doors: HubDoors,
  options: AccessParts & CallerParts,
): Promise<void> {
  const { front, wrong, operators } = doors
  const { page } = options
  if (await operators.answerProbe(request, response)) return
  if (operators.isMetrics(request) && operators.isOpenTo(request)) return operators.answerMetrics(request, response)
  if (!isForUs(front, request, response)) return
  if (page && isPageRequest(request)) {
    if (!page.answer(request, response)) send(response, refusal(404, `there is nothing at ${request.url}`))
    return
  }
  if (request.url === serverPaths.signIn.path) return signInBrowser(request, response, doors, options)
  if (request.url === serverPaths.join.path) return joinMachine(request, response, { front, wrong }, options)
  const caller = await doors.open.admit(request, response)
  if (caller) await answerCaller(request, response, caller, doors, options)
}

async function answerCaller(
  request: IncomingMessage,
  response: ServerResponse,
  caller: HubCaller,
  { front, limit, operators }: HubDoors,
  options: CallerParts,
): Promise<void> {
  options.trail?.came(caller, front.arrival(request).address)
  options.people?.came(caller)
  if (!limit.take(caller.id))
    return send(response, refusal(429, 'too many requests; wait a moment'), { 'retry-after': '1' })
  const url = URL.parse(request.url ?? '/', 'http://hub')
  if (!url) return send(response, refusal(400, 'the address cannot be read'))
  if (operators.isMetrics(request)) {
    checkRole(caller, 'read')
    return operators.answerMetrics(request, response)
  }
  if (url.pathname === serverPaths.mcp.path) return options.mcp.answer(request, response, caller)
  const asked = { url, caller }
  const session = paramsIn(serverPaths.live.path, url.pathname)?.id
  if (session !== undefined) return streamConversation(request, response, { ...asked, session }, options)
  if (url.pathname === serverPaths.events.path) return streamChanges(request, response, asked, options)
  return answerApi(request, response, asked, options)
}

/** Passes a connection that asks for a socket to the relays, the links or the terminals. */
async function acceptSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  doors: HubDoors,
  { links, relays, trail }: Pick<SocketParts, 'links' | 'relays'> & Pick<CallerParts, 'trail'>,
): Promise<void> {
  const { front, allowed, sockets } = doors
  // Another hub of the same ledger sends its own kind of token, and comes through the internal network.
  if (relays && request.url === serverPaths.relay.path) return relays.accept(request, socket, head)
  const response = plainAnswer(request, socket)
  try {
    const caller = isForUs(front, request, response) ? await allowed(request, response) : undefined
    if (!caller) return
    const isIn = accessOf(request, caller, doors)
    if (links && request.url === serverPaths.link.path) {
      if (!mayDo(caller.role, 'machine'))
        return send(response, refusal(403, `${caller.name} may not ${rights.machine.words}`))
      response.detachSocket(socket as Socket)
      return links.accept(request, socket, head, { caller, isIn })
    }
    if (!sockets || request.url !== serverPaths.terminals.path)
      return send(response, refusal(404, `there is no socket at ${request.url}`))
    if (!mayDo(caller.role, 'terminals'))
      return send(response, refusal(403, `${caller.name} may not ${rights.terminals.words}`))
    trail?.came(caller, front.arrival(request).address)
    await trail?.note({ caller, act: 'terminals open', status: 200 })
    response.detachSocket(socket as Socket)
    await sockets.accept(request, socket, head, { caller, isIn })
  } catch (error) {
    // A connection that a socket has already taken over can no longer get an answer.
    if (response.socket) sendFault(response, error)
    else socket.destroy()
  }
}

/** Returns a function that says whether the caller of a socket would still be admitted. */
function accessOf(
  request: IncomingMessage,
  caller: HubCaller,
  { callerWithoutKey, keys, clock }: HubDoors,
): () => Promise<boolean> {
  const key = bearerIn(request)
  return async () => {
    if (caller.ends !== undefined && clock.now() >= caller.ends) return false
    try {
      return (await (key === undefined ? callerWithoutKey(request) : keys.callerOf(key))) !== undefined
    } catch (error) {
      // While the ledger is unavailable, nobody is cut off.
      return error instanceof LedgerAway
    }
  }
}

/** Answers a request whose work failed. An unexpected error cuts the connection, and so does any error in the middle of an answer. */
function sendFault(response: ServerResponse, error: unknown): void {
  const isForeseen = error instanceof HubError || error instanceof LedgerAway
  if (response.headersSent || !response.socket || !isForeseen) {
    response.destroy()
    return
  }
  const fault = faultAnswer(error)
  send(response, fault, { connection: 'close', ...fault.headers })
}

/** An HTTP response for a connection that asked to become a socket and is refused. */
function plainAnswer(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request)
  response.assignSocket(socket as Socket)
  response.once('finish', () => socket.end())
  return response
}

const apiPaths: readonly string[] = [serverPaths.mcp.path, serverPaths.metrics.path]

/** Every address that belongs neither to the API nor to MCP is a file of the page. */
const isPageRequest = ({ method, url = '/' }: IncomingMessage) =>
  (method === 'GET' || method === 'HEAD') && !url.startsWith('/api/') && !apiPaths.includes(url.split('?')[0]!)

async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  { url, caller }: { url: URL; caller: HubCaller },
  { routes, trail }: Pick<CallerParts, 'routes' | 'trail'>,
): Promise<void> {
  const signal = hangUpSignal(request, response)
  const method = request.method ?? 'GET'
  const key = request.headers['idempotency-key']?.toString()
  const secret = bearerIn(request) ?? request.headers.cookie
  const asked = {
    method,
    path: url.pathname,
    query: url.searchParams,
    caller,
    signal,
    ...defined({ trail, key, secret }),
  }
  if (takesPieces(routes, method, url.pathname)) {
    // A refused upload still gets an answer; its connection is closed afterwards.
    const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
    const answer = await answerRequest(routes, { ...asked, pieces })
    return send(response, answer, { ...answer.headers, ...(request.readableEnded ? {} : { connection: 'close' }) })
  }
  const body = await readJsonBody(request)
  if ('refused' in body) return send(response, refusal(body.refused, body.why), { connection: 'close' })
  const answer = await answerRequest(routes, { ...asked, body: body.json })
  if (answer.body instanceof StreamedText) return streamText(request, response, answer.body)
  await sendCompressed(request, response, answer)
}
