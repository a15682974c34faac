import type {
  AuthInfo,
  HandleRequestOptions,
  McpHandlerRequestOptions,
  McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../base/time/clock.ts'
import type { HttpServer } from '../http/http-server.ts'
import type { McpLibrary } from './tool-server.ts'
import { randomUUID } from 'node:crypto'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { accessCheck, isSameKey, listenHttp, mcpPath, refuseRequest } from '../http/http-server.ts'
import { WrongKeys } from '../http/wrong-keys.ts'

type McpHttpOptions = { host: string; port: number; key: string; clock: Clock; trouble(error: Error): void }

/** Serves MCP at an address of its own, to any number of clients of both protocols. */
export async function serveMcpHttp(
  library: McpLibrary,
  make: () => MadeServer,
  options: McpHttpOptions,
): Promise<HttpServer> {
  const mcp = mcpEndpoint(library, make, options.trouble, { ownerOf: () => '' })
  const { key: right, clock } = options
  const allowed = accessCheck({
    callerOf: async (key) => isSameKey(key, right) || undefined,
    wrong: new WrongKeys(clock),
  })
  const server = await listenHttp(async (request, response) => {
    if (!(await allowed(request, response))) return
    if (request.url?.split('?')[0] === mcpPath) await mcp.answer(request, response, undefined)
    else refuseRequest(response, 404, `the only path of this server is ${mcpPath}`)
  }, options)
  return {
    ...server,
    url: `${server.url}${mcpPath}`,
    async close() {
      await mcp.close()
      await server.close()
    },
  }
}

/** The largest body: larger than any task or text that a tool takes. */
const mostBytes = 4 * 1024 * 1024

/** Answers the MCP requests of clients whose access was checked; `caller` is the client. */
export type McpEndpoint<Caller> = {
  answer(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void>
  close(): Promise<void>
}

type MadeServer = ReturnType<McpServerFactory>

type McpEndpointOptions<Caller> = {
  /** Names the client that a session belongs to: no other client can use it. */
  ownerOf(caller: Caller): string
  /** In the older protocol a client that hangs up has not cancelled its calls, unless nobody comes back for their results. */
  hangUpCancels?: boolean
}

/** Answers any number of clients of both protocols, each with a server from `serverFor`. */
export function mcpEndpoint<Caller>(
  library: McpLibrary,
  serverFor: (caller: Caller) => MadeServer,
  trouble: (error: Error) => void,
  { ownerOf, hangUpCancels = false }: McpEndpointOptions<Caller>,
): McpEndpoint<Caller> {
  const limits = { maxRequestBodySize: mostBytes }
  const make: McpServerFactory = ({ authInfo }) => serverFor(authInfo?.extra?.caller as Caller)
  const modern = library.createMcpHandler(make, { legacy: 'reject', onerror: trouble, ...limits })
  const stateless = library.legacyStatelessFallback(make, trouble, limits)
  const sessions = new LegacySessions(library, make, trouble)
  const fetch = async (request: Request, { authInfo }: McpHandlerRequestOptions = {}) => {
    const parsed = { parsedBody: await bodyOf(request), authInfo }
    if (!(await library.isLegacyRequest(request, parsed.parsedBody, limits))) return modern.fetch(request, parsed)
    if (!sessions.wants(request, parsed.parsedBody)) return stateless(request, parsed)
    if (!sessions.mayUse(request, authInfo)) return unknownSession()
    if (hangUpCancels) request.signal.addEventListener('abort', () => sessions.cancel(request, parsed.parsedBody))
    return sessions.fetch(request, parsed)
  }
  const answer = toNodeHandler({ fetch }, { onerror: trouble, ...limits })
  return {
    answer(request, response, caller) {
      // The token is left out, because no later code needs it.
      const auth = { token: '', clientId: ownerOf(caller), scopes: [], extra: { caller } }
      return answer(Object.assign(request, { auth }), response)
    },
    async close() {
      await Promise.allSettled([modern.close(), sessions.close()])
    },
  }
}

/** Undefined for a body that is not JSON: the library reports that itself. */
async function bodyOf(request: Request): Promise<unknown> {
  if (request.method !== 'POST') return undefined
  try {
    return await request.clone().json()
  } catch {
    return undefined
  }
}

type Session = { transport: WebStandardStreamableHTTPServerTransport; owner: string | undefined }

/** Beyond this number, the least recently used session is closed; its client learns so and begins a new one. */
const mostSessions = 100

/**
 * Clients of the older protocol, each with its own server while its session lasts, so that their cancellations and answers reach
 * the right call.
 */
class LegacySessions {
  #library: McpLibrary
  #make: McpServerFactory
  #trouble: (error: Error) => void
  /** The most recently used session is last. */
  #open = new Map<string, Session>()

  constructor(library: McpLibrary, make: McpServerFactory, trouble: (error: Error) => void) {
    this.#library = library
    this.#make = make
    this.#trouble = trouble
  }

  /** Whether a request belongs to a session, or asks for one. */
  wants(request: Request, body: unknown): boolean {
    return request.headers.has('mcp-session-id') || this.#library.isInitializeRequest(body)
  }

  /** Whether a request names no session, or one of its own client. */
  mayUse(request: Request, authInfo: AuthInfo | undefined): boolean {
    const id = request.headers.get('mcp-session-id')
    return id === null || this.#open.get(id)?.owner === authInfo?.clientId
  }

  async fetch(request: Request, parsed: HandleRequestOptions): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return (await this.#begin(request, parsed.authInfo)).handleRequest(request, parsed)
    const session = this.#open.get(id)
    if (!session) return unknownSession()
    this.#open.delete(id)
    this.#open.set(id, session)
    return session.transport.handleRequest(request, parsed)
  }

  /** Cancels the calls of a request as if its client had done so. */
  cancel(request: Request, body: unknown): void {
    const session = this.#open.get(request.headers.get('mcp-session-id') ?? '')
    for (const message of [body].flat()) {
      if (!this.#library.isJSONRPCRequest(message)) continue
      const params = { requestId: message.id, reason: 'the connection is gone' }
      session?.transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map(({ transport }) => transport.close()))
  }

  async #begin(request: Request, authInfo: AuthInfo | undefined): Promise<WebStandardStreamableHTTPServerTransport> {
    const session: WebStandardStreamableHTTPServerTransport =
      new this.#library.WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => {
          this.#open.set(id, { transport: session, owner: authInfo?.clientId })
          const [oldest] = this.#open.values()
          // Its own `onclose` takes it off the list; the new session need not wait for that.
          if (this.#open.size > mostSessions) oldest?.transport.close().catch(() => {})
        },
      })
    const server = await this.#make({ era: 'legacy', requestInfo: request, authInfo })
    await server.connect(session)
    const ended = session.onclose
    session.onclose = () => {
      if (session.sessionId) this.#open.delete(session.sessionId)
      ended?.()
    }
    session.onerror = this.#trouble
    return session
  }
}

function unknownSession(): Response {
  const error = { code: -32001, message: 'Session not found: the session is over, or this server was restarted' }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 })
}
