import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHash, timingSafeEqual } from 'node:crypto'
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node'

export const path = '/mcp'

/** What this machine calls itself; a page that rebinds its name to our address says another. */
const names = ['localhost', '127.0.0.1', '[::1]']

export type Door = (request: IncomingMessage, response: ServerResponse) => boolean

/** Lets in whoever asks for us, from this machine, with the key; the others are answered here. */
export function door(key: string): Door {
  const byHost = hostHeaderValidation(names)
  const byOrigin = originValidation(names)
  const wanted = digest(`Bearer ${key}`)
  return (request, response) => {
    if (!byHost(request, response) || !byOrigin(request, response)) return false
    if (request.url?.split('?')[0] !== path) return refuse(response, 404, `there is nothing here but ${path}`)
    if (timingSafeEqual(digest(request.headers.authorization ?? ''), wanted)) return true
    response.setHeader('www-authenticate', 'Bearer realm="termaite"')
    return refuse(response, 401, 'the key is missing or wrong: send it as "Authorization: Bearer <key>"')
  }
}

/** Equally long whatever was sent, so that the time it takes to compare says nothing. */
const digest = (text: string) => createHash('sha256').update(text).digest()

function refuse(response: ServerResponse, status: number, message: string): false {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
  return false
}
