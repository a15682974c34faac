import type { Env } from '../../base/env.ts'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { routeTo } from '../../base/http/http-route.ts'

/** The part of `fetch` that models need, so that `fetch` itself can be used. */
export type Send = (url: string, init?: Init) => Promise<Reply>

type Init = { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal }

export type Reply = {
  ok: boolean
  status: number
  headers: ReplyHeaders
  body: AsyncIterable<Uint8Array> | null
  text(): Promise<string>
  json(): Promise<any>
  /** Stops reading the body. After a `whole` answer, the connection is kept for the next request. */
  leave?(whole: boolean): void
}

/** The headers of a reply. */
export type ReplyHeaders = { get(name: string): string | null }

/** A server that is silent for this long counts as gone. */
const silenceMs = 300_000

/** How long the connection of a finished answer stays open in the background for its last bytes. */
const endMs = 2_000

/**
 * Sends requests with node:http: `fetch` would take longer to load, and longer per request, than all other work. They go through the
 * proxy that the environment names.
 */
export function sender(env: Env): Send {
  return async (url, init = {}) => {
    try {
      return await sentOnce(url, init, env)
    } catch (error) {
      if (!(error instanceof Stale)) throw error
      return await sentOnce(url, init, env)
    }
  }
}

/** Sends requests to the server without a proxy. */
export const send = sender({})

/** The server had closed the kept connection, so the request is sent again. */
class Stale extends Error {}

async function sentOnce(url: string, { method = 'GET', headers, body, signal }: Init, env: Env): Promise<Reply> {
  const route = routeTo(new URL(url), env)
  const { request } = process.getBuiltinModule(route.module)
  return await new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const asked = request(url, { ...route.options, method, headers: { ...headers, ...route.headers } })
    // Two things would break a connection that is kept for the next request: the signal as an option of the request, and a reason for
    // `destroy` after the answer has arrived.
    let answered = false
    const stop = () => {
      asked.destroy(answered ? undefined : signal!.reason)
    }
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
  // A turn aborts its open requests when it is over: nothing handles the error then.
  response.on('error', () => {})
  // A reader that stops early decides with `leave` whether the connection is kept.
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
      if (!whole) {
        response.destroy()
        return
      }
      // A server that never finishes its answer must not keep the process alive.
      response.socket.unref()
      response.setTimeout(endMs, () => response.destroy())
      response.resume()
    },
  }
}
