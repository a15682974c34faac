import type {
  HandleRequestOptions,
  McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Library } from '../sdk.ts'
import { randomUUID } from 'node:crypto'

/** A client that was forgotten begins anew: it is told that its session is not there. */
const mostSessions = 100

/**
 * Clients of the older protocol, each with a server of its own for as long as its session lasts: what they cancel and
 * what they answer reaches the call that it belongs to.
 */
export class Sessions {
  #library: Library
  #make: McpServerFactory
  #trouble: (error: Error) => void
  /** The one used last is last. */
  #open = new Map<string, WebStandardStreamableHTTPServerTransport>()

  constructor(library: Library, make: McpServerFactory, trouble: (error: Error) => void) {
    this.#library = library
    this.#make = make
    this.#trouble = trouble
  }

  /** Whether a request is one for a session, or asks for one. */
  wants(request: Request, body: unknown): boolean {
    return request.headers.has('mcp-session-id') || this.#library.isInitializeRequest(body)
  }

  async fetch(request: Request, parsed: HandleRequestOptions): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return (await this.#begin(request)).handleRequest(request, parsed)
    const session = this.#open.get(id)
    if (!session) return unknownSession()
    this.#open.delete(id)
    this.#open.set(id, session)
    return session.handleRequest(request, parsed)
  }

  /** As if the client had cancelled what it called there. */
  cancel(request: Request, body: unknown): void {
    const session = this.#open.get(request.headers.get('mcp-session-id') ?? '')
    for (const message of [body].flat()) {
      if (!this.#library.isJSONRPCRequest(message)) continue
      const params = { requestId: message.id, reason: 'the connection is gone' }
      session?.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map((session) => session.close()))
  }

  async #begin(request: Request): Promise<WebStandardStreamableHTTPServerTransport> {
    const session = new this.#library.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#open.set(id, session)
        if (this.#open.size > mostSessions) void this.#open.values().next().value!.close()
      },
    })
    const server = await this.#make({ era: 'legacy', requestInfo: request })
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
  const error = { code: -32001, message: 'Session not found: it is over, or this server was started anew' }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 })
}
