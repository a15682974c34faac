import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-message.ts'
import { routeTo } from '../../base/http-route.ts'
import { longestFrame } from './link-frames.ts'
import { LinkSocket } from './link-socket.ts'

/** How long a connection may take to be opened. */
const openMs = 20_000

export type DialParts = { clock: Clock; env: Readonly<Record<string, string | undefined>> }

/** A connection was not opened. `status` is that of the HTTP answer, where there was one. */
export class DialFailed extends Error {
  override name = 'DialFailed'
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/**
 * Opens a link to a hub: http(s) addresses become ws(s) ones, certificates are checked, and a hub elsewhere is reached through the proxy
 * of the environment. `begin` is called before the first frame can come. Rejects with DialFailed.
 */
export async function dialLink(
  address: string,
  authorization: string,
  { clock, env }: DialParts,
  begin: (socket: LinkSocket) => void,
  signal?: AbortSignal,
): Promise<LinkSocket> {
  const url = new URL(address)
  const { options } = routeTo(url, env)
  const { WebSocket } = await import('ws')
  signal?.throwIfAborted()
  const socket = new WebSocket(address.replace(/^http/, 'ws'), {
    headers: { authorization },
    maxPayload: longestFrame,
    handshakeTimeout: openMs,
    perMessageDeflate: false,
    followRedirects: false,
    agent: options.agent as never,
  })
  return new Promise((resolve, reject) => {
    const stop = () => socket.terminate()
    signal?.addEventListener('abort', stop, { once: true })
    const settled = () => signal?.removeEventListener('abort', stop)
    socket.once('unexpected-response', (request, answer) => {
      settled()
      let said = ''
      answer.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(0, 4_000)))
      const done = () => {
        reject(new DialFailed(refusalIn(said) ?? `the hub answered with HTTP ${answer.statusCode}`, answer.statusCode))
        request.destroy()
      }
      answer.once('end', done).once('error', done).once('close', done)
    })
    socket.once('error', (error) => {
      settled()
      reject(new DialFailed(messageOf(error)))
    })
    socket.once('open', () => {
      settled()
      const link = new LinkSocket(socket, clock)
      begin(link)
      resolve(link)
    })
  })
}

/** The words of a hub that refused a connection. */
function refusalIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: string | { message?: string } }
    return typeof error === 'string' ? error : error?.message
  } catch {
    return undefined
  }
}
