import type { ClientRequest, IncomingMessage } from 'node:http'

/** As much of `fetch` as models are asked with, so that it is one too. */
export type Send = (url: string, init?: Init) => Promise<Reply>

export type Init = { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal }

export type Reply = {
  ok: boolean
  status: number
  headers: ReplyHeaders
  body: AsyncIterable<Uint8Array> | null
  text(): Promise<string>
  json(): Promise<any>
  /** Nothing more of the body is wanted; after a `whole` answer the connection serves the next request. */
  leave?(whole: boolean): void
}

/** What a server told beside the body, by its name. */
export type ReplyHeaders = { get(name: string): string | null }

/** So long a server may be silent before it counts as gone. */
const silenceMs = 300_000

/** The end of an answer that was heard may take this long to come; it is not waited for. */
const endMs = 2_000

/** Node's own client: `fetch` costs a start and each request more than everything else that we do for them. */
export const send: Send = async (url, init = {}) => {
  try {
    return await sentOnce(url, init)
  } catch (error) {
    if (!(error instanceof Stale)) throw error
    return await sentOnce(url, init)
  }
}

/** The server had closed the connection that was kept for it. */
class Stale extends Error {}

function sentOnce(url: string, { method = 'GET', headers, body, signal }: Init): Promise<Reply> {
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const asked = request(url, { method, ...(headers ? { headers } : {}) })
    // Not as an option, nor with a reason once there is an answer: a connection that is kept would break over it.
    let answered = false
    const stop = () => void asked.destroy(answered ? undefined : signal!.reason)
    signal?.addEventListener('abort', stop, { once: true })
    asked.on('close', () => signal?.removeEventListener('abort', stop))
    asked.setTimeout(silenceMs, () => asked.destroy(new Error(`nothing came for ${silenceMs / 1000} s`)))
    asked.on('response', (response) => {
      answered = true
      resolve(replyOf(response))
    })
    asked.on('error', (cause) => reject(isStale(asked, cause) ? new Stale('closed', { cause }) : cause))
    asked.end(body)
  })
}

const isStale = ({ reusedSocket }: ClientRequest, cause: Error) =>
  reusedSocket && (cause as NodeJS.ErrnoException).code === 'ECONNRESET'

function replyOf(response: IncomingMessage): Reply {
  const { statusCode: status = 0, headers } = response
  // A turn that is over aborts what is still open of it, and nobody reads any more then.
  response.on('error', () => {})
  // Whoever stops reading says with `leave` what is to become of the connection.
  const body: AsyncIterable<Uint8Array> = response.iterator({ destroyOnReturn: false })
  const text = async () => {
    const decoder = new TextDecoder()
    let said = ''
    for await (const chunk of body) said += decoder.decode(chunk, { stream: true })
    return said + decoder.decode()
  }
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name) => headers[name]?.toString() ?? null },
    body,
    text,
    json: async () => JSON.parse(await text()),
    leave(whole) {
      if (response.readableEnded || response.destroyed) return
      if (!whole) return void response.destroy()
      // Nobody is kept waiting by a server that never ends its answer.
      response.socket.unref()
      response.setTimeout(endMs, () => response.destroy())
      response.resume()
    },
  }
}
