import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { ServerConfig } from '../../../../src/native/tools/mcp/server-config.ts'
import { createServer } from 'node:http'

/** A server of the tests over HTTP, and the issuer of its logins; what was asked of it is noted. */
export class Web {
  notes: string[] = []
  url = ''
  /** Sessions that it knows; it forgets them when it is told to. */
  sessions = new Set<string>()
  /** Tokens that the server takes; undefined takes every request. */
  tokens: Set<string> | undefined
  /** Whether the server renews no login. */
  forgetful = false
  #era: 'legacy' | 'modern'
  #count = 0

  constructor(era: 'legacy' | 'modern') {
    this.#era = era
  }

  async open(t: TestContext): Promise<this> {
    const server = createServer((request, response) => void this.#serve(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    this.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    return this
  }

  config(part: { headers?: Record<string, string> } = {}): ServerConfig {
    const url = `${this.url}/mcp`
    return { name: 'web', from: 'settings', shown: url, timeoutSeconds: 20, kind: 'http', url, headers: {}, ...part }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += chunk
    const { pathname, searchParams } = new URL(request.url!, this.url)
    const json = (value: object, status = 200, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify(value))
    }
    if (pathname === '/mcp') return this.#message(request, body, json)
    this.notes.push(pathname)
    switch (pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json({ resource: `${this.url}/mcp`, authorization_servers: [this.url] })
      case '/.well-known/oauth-authorization-server':
        return json({
          issuer: this.url,
          authorization_endpoint: `${this.url}/authorize`,
          token_endpoint: `${this.url}/token`,
          registration_endpoint: `${this.url}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        })
      case '/register':
        return json({ client_id: `client ${++this.#count}`, ...(JSON.parse(body) as object) }, 201)
      case '/authorize': {
        const back = new URL(searchParams.get('redirect_uri')!)
        back.search = new URLSearchParams({ code: 'c0de', state: searchParams.get('state')! }).toString()
        response.writeHead(302, { location: back.href })
        return void response.end()
      }
      case '/token': {
        const grant = new URLSearchParams(body).get('grant_type')!
        const token = `token-${++this.#count}`
        this.notes.push(grant)
        if (grant === 'refresh_token' && this.forgetful) return json({ error: 'invalid_grant' }, 400)
        this.tokens!.add(token)
        return json({ access_token: token, token_type: 'Bearer', refresh_token: 'again', expires_in: 3600 })
      }
      default:
        return json({}, 404)
    }
  }

  #message(
    request: IncomingMessage,
    body: string,
    json: (value: object, status?: number, headers?: Record<string, string>) => void,
  ) {
    const token = request.headers.authorization?.replace('Bearer ', '')
    if (this.tokens && !this.tokens.has(token ?? ''))
      return json({}, 401, {
        'www-authenticate': `Bearer resource_metadata="${this.url}/.well-known/oauth-protected-resource/mcp"`,
      })
    if (request.method !== 'POST') return json({}, 405)
    const { id, method, params } = JSON.parse(body) as {
      id?: number
      method: string
      params?: { arguments?: { text: string } }
    }
    this.notes.push(`${method}${token ? ` ${token}` : ''}`)
    const modern = this.#era === 'modern'
    const complete = modern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {}
    const reply = (result: object, headers = {}) =>
      json({ jsonrpc: '2.0', id, result: { ...result, ...complete } }, 200, headers)
    const capabilities = { tools: {} }
    if (id === undefined) return json({}, 202)
    if (modern && method === 'server/discover') return reply({ capabilities, supportedVersions: ['2026-07-28'] })
    if (!modern && method === 'initialize') {
      const session = `session-${++this.#count}`
      this.sessions.add(session)
      const about = { capabilities, protocolVersion: '2025-11-25', serverInfo: { name: 'web', version: '1' } }
      return reply(about, { 'mcp-session-id': session })
    }
    if (!modern && !this.sessions.has(String(request.headers['mcp-session-id'])))
      return json(
        { jsonrpc: '2.0', id, error: { code: -32000, message: 'no session' } },
        method === 'server/discover' ? 400 : 404,
      )
    const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
    if (method === 'tools/list') return reply({ tools: [{ name: 'echo', description: 'Says it again.', inputSchema }] })
    return reply({ content: [{ type: 'text', text: params!.arguments!.text }] })
  }
}
