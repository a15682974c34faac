import type { Clock } from '../../src/base/time/clock.ts'
import type { Blobs } from '../../src/core/talk/store.ts'
import type { Model, ModelEvent, ModelRequest } from '../../src/core/work/model.ts'
import type { ModelParts, ModelSpec } from '../../src/models/open/open-model.ts'
import { HandClock } from '../hand-clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { openModel } from '../../src/models/open/open-model.ts'

/** The answer of a server: bytes as they are cut, and whether it hangs or breaks after them. */
export type Reply = {
  status?: number
  headers?: Record<string, string>
  chunks?: readonly (string | Uint8Array)[]
  then?: 'hang' | 'break'
  /** The connection cannot even be made. */
  refuse?: string
}

export type Tap = {
  fetch: typeof fetch
  /** Every request as it was sent. */
  sent: { url: string; method: string; headers: Record<string, string>; body: string }[]
  /** How many answers are still being read. */
  open(): number
}

/** A server without a network: one reply a request, the last one again and again. */
export function tap(replies: readonly Reply[] | ((url: string, body: string) => Reply)): Tap {
  const sent: Tap['sent'] = []
  let open = 0
  return {
    sent,
    open: () => open,
    async fetch(input, init = {}) {
      const url = String(input)
      const body = String(init.body ?? '')
      const count = sent.push({ url, method: init.method ?? 'GET', headers: { ...(init.headers as object) }, body })
      const reply = typeof replies === 'function' ? replies(url, body) : replies[Math.min(count, replies.length) - 1]!
      init.signal?.throwIfAborted()
      if (reply.refuse)
        throw new TypeError('fetch failed', { cause: Object.assign(new Error(reply.refuse), { code: reply.refuse }) })
      const chunks = [...(reply.chunks ?? [])]
      open++
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          init.signal?.addEventListener(
            'abort',
            () => {
              open--
              controller.error(init.signal!.reason)
            },
            { once: true },
          )
        },
        pull(controller) {
          const next = chunks.shift()
          if (next !== undefined)
            return controller.enqueue(typeof next === 'string' ? new TextEncoder().encode(next) : next)
          if (reply.then === 'hang') return new Promise(() => {})
          if (reply.then === 'break')
            return controller.error(new TypeError('terminated', { cause: new Error('other side closed') }))
          controller.close()
        },
      })
      return new Response(stream, {
        status: reply.status ?? 200,
        headers: reply.headers ?? { 'content-type': 'text/event-stream' },
      })
    },
  }
}

export const blobs: Blobs = memoryStore().blobs('images')

/** A model over a tap, with a key that must never be seen. */
export const secret = 'sk-very-secret-0123456789'

export function tapped(spec: ModelSpec, one: Tap, parts: Partial<ModelParts> = {}): Model {
  return openModel(spec, { key: () => secret, blobs, clock: new HandClock(), fetch: one.fetch, ...parts })
}

export async function eventsOf(
  model: Model,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream(request, signal)) events.push(event)
  return events
}

/** A clock that stands still: only an abort wakes a sleeper. */
export const still: Clock = {
  now: () => 0,
  elapsed: () => 0,
  sleep: (_ms, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true })),
}

export const hello: ModelRequest = {
  frame: { system: 'Be brief.', tools: [] },
  messages: [{ role: 'user', text: 'hello' }],
}

export const sse = (...events: (object | string)[]) =>
  events.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('')
