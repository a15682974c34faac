import type { Env } from '../env.ts'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { routeTo } from './http-route.ts'

type Sent = {
  method: string
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array | undefined
  signal: AbortSignal
}

/**
 * Sends a request through the proxies of the environment, and resolves with the beginning of its answer. Node's own `fetch` is a library
 * of its own, and to load it takes longer than most of our commands. A server may close a kept connection at the very moment at which it
 * is used again, before it has read anything: then the request is sent once more, on a connection of its own. A large request is not sent
 * again, because the server may have read a part of it; the caller decides how to continue.
 */
export function sendRequest(url: URL, sent: Sent, env: Env): Promise<IncomingMessage> {
  return sendOnce(url, sent, env).catch((error: unknown) => {
    if (error !== closedMeanwhile) throw error
    return sendOnce(url, { ...sent, headers: { ...sent.headers, connection: 'close' } }, env)
  })
}

/** A request up to this size is sent in one piece. */
const largestRepeated = 16 * 1024

const closedMeanwhile = new Error('the kept connection was closed before the request was read')

function sendOnce(url: URL, { method, headers, body, signal }: Sent, env: Env): Promise<IncomingMessage> {
  const route = routeTo(url, env)
  const { request } = process.getBuiltinModule(route.module)
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const asked = request(url, { ...route.options, method, headers: { ...headers, ...route.headers } })
    let answered: IncomingMessage | undefined
    asked.on('response', (answer) => resolve((answered = answer)))
    const stop = () => {
      const { reason } = signal as { reason: unknown }
      const error = reason instanceof Error ? reason : new Error(String(reason))
      if (answered) answered.destroy(error)
      else asked.destroy(error)
    }
    signal.addEventListener('abort', stop, { once: true })
    asked.on('close', () => signal.removeEventListener('abort', stop))
    asked.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = asked.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      const isSmall = (body?.length ?? 0) <= largestRepeated
      reject(isClosed && isSmall && !signal.aborted ? closedMeanwhile : error)
    })
    asked.end(body)
  })
}

/** The answer of a server, whose body can be read once. */
export class HttpAnswer {
  #message: IncomingMessage

  constructor(message: IncomingMessage) {
    this.#message = message
  }

  get status(): number {
    return this.#message.statusCode ?? 0
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  get headers(): IncomingHttpHeaders {
    return this.#message.headers
  }

  /** Yields the body of the answer piece by piece. */
  pieces(): AsyncIterator<Uint8Array> {
    return this.#message[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  }

  bytes(): Promise<Buffer> {
    const pieces: Buffer[] = []
    return new Promise((resolve, reject) => {
      this.#message.on('data', (piece: Buffer) => pieces.push(piece))
      this.#message.on('end', () => resolve(Buffer.concat(pieces)))
      this.#message.on('error', reject)
    })
  }

  async text(): Promise<string> {
    return (await this.bytes()).toString('utf8')
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }

  /** Leaves the rest of the body unread. */
  drop(): void {
    this.#message.resume()
  }
}
