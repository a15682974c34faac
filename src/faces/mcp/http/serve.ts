import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { Clock } from '../../../base/clock.ts'
import type { Listening } from '../../http/listen.ts'
import type { Library } from '../sdk.ts'
import { door, refuse } from '../../http/door.ts'
import { listen } from '../../http/listen.ts'
import { mcpAnswer, mcpPath } from './answer.ts'

export type HttpWishes = { host: string; port: number; key: string; clock: Clock; trouble(error: Error): void }

export type HttpServing = Listening

/** Serves any number of clients of both protocols at one address. */
export async function serveHttp(library: Library, make: McpServerFactory, wishes: HttpWishes): Promise<HttpServing> {
  const mcp = mcpAnswer(library, make, wishes.trouble)
  const enter = door(wishes)
  const listening = await listen((request, response) => {
    if (!enter(request, response)) return
    if (request.url?.split('?')[0] === mcpPath) void mcp.answer(request, response)
    else refuse(response, 404, `there is nothing here but ${mcpPath}`)
  }, wishes)
  return {
    url: `${listening.url}${mcpPath}`,
    async close() {
      await mcp.close()
      await listening.close()
    },
  }
}
