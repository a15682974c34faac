import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { AddressInfo } from 'node:net'
import type { Library } from '../sdk.ts'
import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { door, path } from './door.ts'
import { Sessions } from './sessions.ts'

/** More than any task or text that a tool takes. */
const mostBytes = 4 * 1024 * 1024

export type HttpWishes = { host: string; port: number; key: string; trouble(error: Error): void }

export type HttpServing = { url: string; close(): Promise<void> }

/** Serves any number of clients of both protocols at one address. */
export async function serveHttp(library: Library, make: McpServerFactory, wishes: HttpWishes): Promise<HttpServing> {
  const { host, port, key, trouble } = wishes
  const limits = { maxRequestBodySize: mostBytes }
  const modern = library.createMcpHandler(make, { legacy: 'reject', onerror: trouble, ...limits })
  const alone = library.legacyStatelessFallback(make, trouble, limits)
  const sessions = new Sessions(library, make, trouble)
  const fetch = async (request: Request) => {
    const parsed = { parsedBody: await bodyOf(request) }
    if (!(await library.isLegacyRequest(request, parsed.parsedBody, limits))) return modern.fetch(request, parsed)
    return sessions.wants(request, parsed.parsedBody) ? sessions.fetch(request, parsed) : alone(request, parsed)
  }
  const answer = toNodeHandler({ fetch }, { onerror: trouble, ...limits })
  const enter = door(key)
  const server = createServer((request, response) => {
    if (enter(request, response)) void answer(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}${path}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      await Promise.allSettled([modern.close(), sessions.close()])
      server.closeAllConnections()
      await closed
    },
  }
}

/** Undefined when it is no JSON: the library says so in its own words. */
async function bodyOf(request: Request): Promise<unknown> {
  if (request.method !== 'POST') return undefined
  try {
    return await request.clone().json()
  } catch {
    return undefined
  }
}
