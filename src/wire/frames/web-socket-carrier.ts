import type { Env } from '../../base/env.ts'
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../base/time/clock.ts'
import type { Carrier } from './connection.ts'
import { messageOf } from '../../base/error-message.ts'
import { routeTo } from '../../base/http/http-route.ts'
import { Connection } from './connection.ts'
import { longestFrame } from './frames.ts'

/** How long opening a connection may take. */
const openMs = 20_000
/**
 * The codes of a connection that was closed normally, and of one closed because the other side broke the rules; the reason is in the
 * frame.
 */
const endedCode = 4000
const brokenCode = 4400

/** Carries frames over a WebSocket. */
export function webSocketCarrier(socket: WebSocket): Carrier {
  let wasSent = () => {}
  return {
    begin({ take, heard, sent, over, fail }) {
      wasSent = sent
      socket.on('ping', heard).on('pong', heard)
      socket.on('message', (data: RawData, isBinary: boolean) => {
        heard()
        take(isBinary ? (data as Buffer) : (data as Buffer).toString('utf8'))
      })
      socket.on('error', (error) => fail(error.message))
      socket.once('close', (code, reason) =>
        over(
          reason.toString('utf8') || (code === 1006 ? 'the connection broke' : `the connection was closed (${code})`),
        ),
      )
    },
    get buffered() {
      return socket.bufferedAmount
    },
    send(data) {
      if (socket.readyState === socket.OPEN) socket.send(data, wasSent)
    },
    close(why, isBroken) {
      // A close frame has room for 123 bytes.
      const reason = Buffer.from(why).subarray(0, 120).toString('utf8').replaceAll('\ufffd', '')
      socket.close(isBroken ? brokenCode : endedCode, reason)
    },
    destroy: () => socket.terminate(),
    ping() {
      if (socket.readyState === socket.OPEN) socket.ping(() => {})
    },
  }
}

export type DialParts = { clock: Clock; env: Env }

/** A kind of socket of the hub: its protocol, and its longest frame. */
type SocketKind = { protocol: string; longest: number }

/** A connection could not be opened. `status` is that of the HTTP answer, if there was one. */
export class DialFailed extends Error {
  override name = 'DialFailed'
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/**
 * Connects to a hub: http(s) addresses become ws(s) ones, certificates are checked, and a hub elsewhere is reached through the proxy in
 * the environment. Rejects with DialFailed.
 */
export async function dialHub(
  address: string,
  authorization: string,
  { clock, env }: DialParts,
  { signal, kind }: { signal?: AbortSignal; kind?: SocketKind } = {},
): Promise<Connection> {
  const url = new URL(address)
  const { options } = routeTo(url, env)
  const { WebSocket } = await import('ws')
  signal?.throwIfAborted()
  const socket = new WebSocket(address.replace(/^http/, 'ws'), kind ? [kind.protocol] : [], {
    headers: { authorization },
    maxPayload: kind?.longest ?? longestFrame,
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
      resolve(new Connection(webSocketCarrier(socket), clock))
    })
  })
}

/** The message of a hub that refused a connection. */
function refusalIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: string | { message?: string } }
    return typeof error === 'string' ? error : error?.message
  } catch {
    return undefined
  }
}
