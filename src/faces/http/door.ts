import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { createHash, timingSafeEqual } from 'node:crypto'
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node'
import { Rate } from './rate.ts'

/** What this machine calls itself; a page that rebinds its name to our address says another. */
export const ownNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Whoever guesses at the key has so many tries at once, and then one in so many seconds. */
const tries = { burst: 20, perSecond: 0.2 }

export type Door = (request: IncomingMessage, response: ServerResponse) => boolean

export type DoorParts = { key: string; clock: Clock; names?: readonly string[] }

/** Lets in whoever asks for us by a name of ours with the key; the others are answered here. */
export function door({ key, clock, names = ownNames }: DoorParts): Door {
  const byHost = hostHeaderValidation([...names])
  const byOrigin = originValidation([...names])
  const wanted = digest(`Bearer ${key}`)
  const guesses = new Rate(clock, tries.burst, tries.perSecond)
  return (request, response) => {
    if (!byHost(request, response) || !byOrigin(request, response)) return false
    const caller = request.socket.remoteAddress ?? ''
    if (!guesses.has(caller)) return refuse(response, 429, 'too many wrong keys; wait a moment', { 'retry-after': '5' })
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), wanted)) return true
    guesses.take(caller)
    const words = 'the key is missing or wrong: send it as "Authorization: Bearer <key>"'
    return refuse(response, 401, words, { 'www-authenticate': 'Bearer realm="termaite"' })
  }
}

/** Equally long whatever was sent, so that the time it takes to compare says nothing. */
const digest = (text: string) => createHash('sha256').update(text).digest()

/** Answers in words; the connection goes, because a body may still be on its way. */
export function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): false {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
  return false
}
