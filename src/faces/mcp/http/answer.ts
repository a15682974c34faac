import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Library } from '../sdk.ts'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { Sessions } from './sessions.ts'

/** More than any task or text that a tool takes. */
const mostBytes = 4 * 1024 * 1024

export const mcpPath = '/mcp'

export type McpAnswer = {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>
  close(): Promise<void>
}

/**
 * Answers any number of clients of both protocols; whoever calls has let them in. By the older one a client that hangs
 * up has not cancelled its calls, unless `hangUpCancels` says that nobody comes back for what they give.
 */
export function mcpAnswer(
  library: Library,
  make: McpServerFactory,
  trouble: (error: Error) => void,
  { hangUpCancels = false } = {},
): McpAnswer {
  const limits = { maxRequestBodySize: mostBytes }
  const modern = library.createMcpHandler(make, { legacy: 'reject', onerror: trouble, ...limits })
  const alone = library.legacyStatelessFallback(make, trouble, limits)
  const sessions = new Sessions(library, make, trouble)
  const fetch = async (request: Request) => {
    const parsed = { parsedBody: await bodyOf(request) }
    if (!(await library.isLegacyRequest(request, parsed.parsedBody, limits))) return modern.fetch(request, parsed)
    if (!sessions.wants(request, parsed.parsedBody)) return alone(request, parsed)
    if (hangUpCancels) request.signal.addEventListener('abort', () => sessions.cancel(request, parsed.parsedBody))
    return sessions.fetch(request, parsed)
  }
  const answer = toNodeHandler({ fetch }, { onerror: trouble, ...limits })
  return {
    answer: async (request, response) => void (await answer(request, response)),
    close: async () => void (await Promise.allSettled([modern.close(), sessions.close()])),
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
